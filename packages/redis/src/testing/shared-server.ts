import { spawn } from "node:child_process";
import { beforeAll } from "vitest";
import { startServer } from "./redis-server.js";
import { describeWithRedis, REDIS_URL } from "./where.js";

/** One server for all tests of a process: starting one for each file would take too long. */
let server: Promise<string> | undefined;

/** Defines tests on a Redis server that they share with those of other files. A test calls `url`, and uses a `keyPrefix` of its own. */
export function describeOnSharedRedis(name: string, define: (url: () => string) => void): void {
  describeWithRedis(name, () => {
    let url: string;
    beforeAll(async () => {
      server ??= REDIS_URL === null ? startUntilExit() : Promise.resolve(REDIS_URL);
      url = await server;
    });
    define(() => url);
  });
}

/** Starts a server that ends, and leaves nothing behind, when this process ends, however it ends. */
async function startUntilExit(): Promise<string> {
  const { url, pid, directory } = await startServer();
  // Its input ends with this process.
  const script = 'read -r _; kill -KILL "$1"; until rm -rf "$0"; do sleep 0.1; done';
  const watcher = spawn("sh", ["-c", script, directory, String(pid())], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.unref();
  (watcher.stdin as typeof watcher.stdin & { unref?: () => void }).unref?.();
  return url;
}
