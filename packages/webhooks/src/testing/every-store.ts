import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { postgresStore } from "@latchkey/postgres";
import {
  describeWithPostgres,
  PATIENT,
  startServer as startPostgres,
  type TestServer as TestPostgres,
} from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import {
  describeWithRedis,
  PATIENT as PATIENT_REDIS,
  startServer as startRedis,
  type TestServer as TestRedis,
} from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";

/** Makes what opens an empty store, for the test that runs: every handle has the same data, as if another process had it. */
export type OpenStore = () => () => KeyStore;

/** Defines the same tests on every store. */
export function describeOnEveryStore(title: string, define: (open: OpenStore) => void): void {
  describe(`${title} on memory`, () =>
    define(() => {
      const store = memoryStore();
      return () => store;
    }));

  describe(`${title} on SQLite`, () =>
    define(() => {
      const folder = mkdtempSync(join(tmpdir(), "latchkey-webhooks-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      return () => closedInTheEnd(sqliteStore(join(folder, "keys.db")));
    }));

  describeWithRedis(`${title} on Redis`, () => {
    let server: TestRedis | undefined;
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server?.remove());

    define(() => {
      const keyPrefix = `test:${randomUUID()}`;
      return () => closedInTheEnd(redisStore(server?.url ?? "", { ...PATIENT_REDIS, keyPrefix }));
    });
  });

  describeWithPostgres(`${title} on PostgreSQL`, () => {
    let server: TestPostgres | undefined;
    beforeAll(async () => {
      server = await startPostgres({ fsync: "off" });
    });
    afterAll(() => server?.remove());

    define(() => {
      const schema = `test_${randomUUID().replaceAll("-", "")}`;
      return () =>
        closedInTheEnd(postgresStore(server?.url ?? "", { ...PATIENT, schema, maxConnections: 4 }));
    });
  });
}

function closedInTheEnd(store: KeyStore): KeyStore {
  onTestFinished(() => store.close());
  return store;
}
