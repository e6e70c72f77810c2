import { afterAll, describe } from "vitest";
import { serverProgram } from "./redis-server.js";

/** The server for tests that share one: REDIS_URL; null if it is not set. */
export const REDIS_URL: string | null = process.env.REDIS_URL ?? null;

/** Whether tests can start servers of their own. */
const canStartServers: boolean = serverProgram() !== null;

/**
 * Defines tests that start servers of their own. Without a `redis-server` they are reported as skipped, and loudly: an untested store
 * must not look as if it had passed.
 */
export function describeWithServers(name: string, define: () => void): void {
  if (!canStartServers) warn(name);
  describe.skipIf(!canStartServers)(name, define);
}

/** The same for tests that can also use the server of REDIS_URL. */
export function describeWithRedis(name: string, define: () => void): void {
  const isThere = canStartServers || REDIS_URL !== null;
  if (!isThere) warn(name);
  describe.skipIf(!isThere)(name, define);
}

function warn(name: string): void {
  const line = "=".repeat(78);
  console.warn(
    `\n${line}\nSKIPPED: ${name}\nNo Redis: set REDIS_URL, or put redis-server 7 or later on the PATH.\n${line}\n`,
  );
}

/** Runs work after the last test of the file, and only if something was started. */
export function afterTests(release: () => Promise<void>): void {
  afterAll(release, 300_000);
}
