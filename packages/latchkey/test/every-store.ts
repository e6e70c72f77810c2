import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { postgresStore } from "@latchkey/postgres";
import {
  describeWithPostgres,
  POSTGRES_URL,
  startServer as startPostgres,
  type TestServer as TestPostgres,
} from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import {
  describeWithRedis,
  REDIS_URL,
  startServer,
  type TestServer,
} from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { afterAll, beforeAll, describe } from "vitest";
import { tempFolder } from "../src/testing/temp-folder.js";
import { type OpenContext, openContext } from "./test-context.js";

/** Defines the same tests on every store. `another()` has a handle of its own there, as another process has. */
export function describeOnEveryStore(title: string, define: (open: OpenContext) => void): void {
  describe(`${title} on memory`, () =>
    define((options) => {
      const store = memoryStore();
      return openContext(() => store, options);
    }));

  describe(`${title} on SQLite`, () =>
    define((options) => {
      const path = join(tempFolder(), "keys.db");
      return openContext(() => sqliteStore(path), options);
    }));

  describeWithRedis(`${title} on Redis`, () => {
    let server: TestServer | undefined;
    beforeAll(async () => {
      server = REDIS_URL === null ? await startServer() : undefined;
    });
    afterAll(() => server?.remove());

    define((options) => {
      const keyPrefix = `test:${randomUUID()}`;
      return openContext(() => openRedis(REDIS_URL ?? server?.url ?? "", keyPrefix), options);
    });
  });

  describeWithPostgres(`${title} on PostgreSQL`, () => {
    let server: TestPostgres | undefined;
    beforeAll(async () => {
      server = POSTGRES_URL === null ? await startPostgres({ fsync: "off" }) : undefined;
    });
    afterAll(() => server?.remove());

    define((options) => {
      const schema = `test_${randomUUID().replaceAll("-", "")}`;
      return openContext(() => openPostgres(POSTGRES_URL ?? server?.url ?? "", schema), options);
    });
  });
}

/** Whatever the server of REDIS_URL is set to, it holds tests only; and a busy machine answers late. */
function openRedis(url: string, keyPrefix: string): KeyStore {
  return redisStore(url, {
    keyPrefix,
    allowEviction: true,
    allowNoPersistence: true,
    configTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  });
}

function openPostgres(url: string, schema: string): KeyStore {
  const timeouts = { chargeTimeoutMs: 20_000, timeoutMs: 20_000 };
  return postgresStore(url, { schema, maxConnections: 4, ...timeouts });
}
