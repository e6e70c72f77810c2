import { until } from "./errors.js";
import type { TestServer } from "./redis-server.js";

/** Waits until a replica holds what its primary holds and follows it. */
export async function untilFollowing(replica: TestServer): Promise<void> {
  const control = replica.connect();
  try {
    await until(async () => {
      const info = await control.info("replication");
      return info.includes("master_link_status:up") && info.includes("master_sync_in_progress:0");
    }, 15_000);
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
