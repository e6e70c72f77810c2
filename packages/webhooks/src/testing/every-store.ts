import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describeOnSharedPostgres } from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import { describeOnSharedRedis, PATIENT as PATIENT_REDIS } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, onTestFinished } from "vitest";

/** Makes what opens an empty store, for the test that runs: every handle has the same data, as if another process had it. */
export type OpenStore = () => () => KeyStore;

type Define = (open: OpenStore) => void;

/**
 * Defines tests of what is sent and of how it is answered, in which a store has no part. They run on memory, and on every store with
 * `LATCHKEY_TEST_STORES=all`, as they do every week.
 */
export function describeOnMemoryOrAll(title: string, define: Define): void {
  if (process.env.LATCHKEY_TEST_STORES === "all") describeOnEveryStore(title, define);
  else describeOnMemory(title, define);
}

function describeOnMemory(title: string, define: Define): void {
  describe(`${title} on memory`, () =>
    define(() => {
      const store = memoryStore();
      return () => store;
    }));
}

/** Defines the same tests on every store. */
export function describeOnEveryStore(title: string, define: Define): void {
  describeOnMemory(title, define);

  describe(`${title} on SQLite`, () =>
    define(() => {
      const folder = mkdtempSync(join(tmpdir(), "latchkey-webhooks-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      return () => closedInTheEnd(sqliteStore(join(folder, "keys.db")));
    }));

  // Whatever the server of REDIS_URL is set to, it holds tests only.
  const lenient = { ...PATIENT_REDIS, allowEviction: true, allowNoPersistence: true };
  describeOnSharedRedis(`${title} on Redis`, (url) =>
    define(() => {
      const keyPrefix = `test:${randomUUID()}`;
      return () => closedInTheEnd(redisStore(url(), { ...lenient, keyPrefix }));
    }),
  );

  describeOnSharedPostgres(`${title} on PostgreSQL`, (nextSchema) =>
    define(() => {
      const open = nextSchema();
      return () => closedInTheEnd(open());
    }),
  );
}

function closedInTheEnd(store: KeyStore): KeyStore {
  onTestFinished(() => store.close());
  return store;
}
