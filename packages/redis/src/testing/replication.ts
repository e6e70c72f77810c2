import { until } from "./errors.js";
import type { TestServer } from "./redis-server.js";

/**
 * Waits until the replicas of a primary follow it. The report of each replica is not enough: its primary sends it nothing new until it
 * has heard from the replica, up to a second later.
 */
export async function untilFollowed(primary: TestServer, replicas = 1): Promise<void> {
  const control = primary.connect();
  try {
    await until(async () => {
      const info = await control.info("replication");
      return (info.match(/state=online/g) ?? []).length >= replicas;
    }, 15_000);
    // A write, since WAIT means nothing before the first one that is sent to replicas; without a key, since a key may belong to another
    // node of a cluster.
    await control.call("FUNCTION", "FLUSH");
    await until(async () => (await control.wait(replicas, 1_000)) >= replicas, 15_000);
  } finally {
    control.disconnect();
  }
}

/** Makes a replica the primary. */
export async function promote(replica: TestServer): Promise<void> {
  const control = replica.connect();
  try {
    await control.replicaof("NO", "ONE");
  } finally {
    control.disconnect();
  }
}

/** Makes a primary a replica of another server, with its clients connected. */
export async function demote(primary: TestServer, port: number): Promise<void> {
  const control = primary.connect();
  try {
    await control.replicaof("127.0.0.1", port);
  } finally {
    control.disconnect();
  }
}
