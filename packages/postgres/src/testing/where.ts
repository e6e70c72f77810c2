import { describe } from "vitest";
import { programFolder } from "./postgres-server.js";

/** The server for tests that share one: POSTGRES_URL; null if it is not set. */
export const POSTGRES_URL: string | null = process.env.POSTGRES_URL ?? null;

/**
 * Defines tests that start servers of their own. Without PostgreSQL they are reported as skipped, and loudly: an untested store must not
 * look as if it had passed.
 */
export function describeWithServers(name: string, define: () => void): void {
  const canStart = programFolder() !== null;
  if (!canStart) warn(name);
  describe.skipIf(!canStart)(name, define);
}

/** The same for tests that can also use the server of POSTGRES_URL. */
export function describeWithPostgres(name: string, define: () => void): void {
  const isThere = POSTGRES_URL !== null || programFolder() !== null;
  if (!isThere) warn(name);
  describe.skipIf(!isThere)(name, define);
}

function warn(name: string): void {
  const line = "=".repeat(78);
  console.warn(
    `\n${line}\nSKIPPED: ${name}\nNo PostgreSQL: set POSTGRES_URL, or install PostgreSQL 14 or later.\n${line}\n`,
  );
}
