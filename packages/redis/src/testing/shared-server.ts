import { spawn } from "node:child_process";
import { beforeAll } from "vitest";
import { startServer } from "./redis-server.js";
import { describeWithRedis, REDIS_URL } from "./where.js";

/** One server for all tests of a process: there are more files than it takes time to start one. */
let server: Promise<string> | undefined;

/**
 * Defines tests on a Redis server that they share with those of other files. `url` is called in a test, which takes a `keyPrefix` that
 * nobody else has.
 */
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

/** Starts a server that ends, and leaves nothing behind, when this process has ended in whatever way. */
async function startUntilExit(): Promise<string> {
  const { url, pid, directory } = await startServer();
  // What it reads ends with this process.
  const script = 'read -r _; kill -KILL "$1"; until rm -rf "$0"; do sleep 0.1; done';
  const watcher = spawn("sh", ["-c", script, directory, String(pid())], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.unref();
  (watcher.stdin as typeof watcher.stdin & { unref?: () => void }).unref?.();
  return url;
}
