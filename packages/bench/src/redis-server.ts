import { spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";

/** A Redis to measure on: with AOF everysec, as keys are to be kept, over a Unix socket. */
export interface MeasuredRedis {
  /** A client that never sends twice; all are closed with the server. */
  client(): Promise<Redis>;
  stop(): void;
}

/** Starts `redis-server` in a folder, or answers null where there is none on the PATH. */
export async function startRedis(folder: string): Promise<MeasuredRedis | null> {
  if (spawnSync("redis-server", ["--version"]).status !== 0) return null;
  const path = join(folder, "redis.sock");
  const flags = ["--port", "0", "--unixsocket", path, "--dir", folder, "--appendonly", "yes"];
  const server = spawn("redis-server", flags, { stdio: "ignore" });
  const clients: Redis[] = [];
  const client = async () => {
    const opened = new Redis({ path, maxRetriesPerRequest: 0, enableOfflineQueue: false });
    opened.on("error", () => undefined);
    clients.push(opened);
    // A server that is starting refuses, and ioredis tries again.
    while (opened.status !== "ready") await delay(20);
    return opened;
  };
  await client();
  return {
    client,
    stop() {
      for (const opened of clients) opened.disconnect();
      server.kill("SIGKILL");
      rmSync(path, { force: true });
    },
  };
}
