import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describeOnSharedPostgres } from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import { describeOnSharedRedis, PATIENT } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, onTestFinished } from "vitest";

/**
 * Defines tests of questions and decisions, which do not depend on the kind of store. They run on memory, or with
 * `LATCHKEY_TEST_STORES=all` (every week) on every store.
 */
export function describeOnMemoryOrAll(
  title: string,
  define: (openStore: () => KeyStore) => void,
): void {
  if (process.env.LATCHKEY_TEST_STORES === "all") describeOnEveryStore(title, define);
  else describe(`${title}, on memory`, () => define(memoryStore));
}

/** Defines the same tests on every store. `openStore` opens an empty one; it must be called during a test. */
export function describeOnEveryStore(
  title: string,
  define: (openStore: () => KeyStore) => void,
): void {
  describe(`${title}, on memory`, () => define(memoryStore));

  describe(`${title}, on SQLite`, () =>
    define(() => {
      const folder = mkdtempSync(join(tmpdir(), "latchkey-guard-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      return sqliteStore(join(folder, "keys.db"));
    }));

  // The server of REDIS_URL holds only test data, so its settings do not matter. Patient, because a busy machine answers late.
  describeOnSharedRedis(`${title}, on Redis`, (url) =>
    define(() =>
      redisStore(url(), {
        keyPrefix: `test:${randomUUID()}`,
        allowEviction: true,
        allowNoPersistence: true,
        ...PATIENT,
      }),
    ),
  );

  describeOnSharedPostgres(`${title}, on PostgreSQL`, (nextSchema) => define(() => nextSchema()()));
}
