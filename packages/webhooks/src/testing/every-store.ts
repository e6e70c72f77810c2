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

/** Creates an empty store for the current test, and returns a function that opens handles of it, each as if by another process. */
export type OpenStore = () => () => KeyStore;

type Define = (open: OpenStore) => void;

/**
 * Defines tests of requests and responses, which do not depend on the kind of store. They run on memory, or with
 * `LATCHKEY_TEST_STORES=all` (every week) on every store.
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

  // The server of REDIS_URL holds only test data, so its settings do not matter.
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
