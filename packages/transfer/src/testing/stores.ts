import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { postgresStore } from "@latchkey/postgres";
import { PATIENT, startServer as startPostgres } from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import { PATIENT as PATIENT_REDIS, startServer as startRedis } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";

/** Kinds of stores. Every pair of them is tested. */
export const KINDS = ["memory", "sqlite", "redis", "postgres"] as const;
export type Kind = (typeof KINDS)[number];

/** Opens empty stores of every kind. */
export interface TestStores {
  readonly open: (kind: Kind) => KeyStore;
  /** Closes what was opened, and stops the servers. */
  readonly close: () => Promise<void>;
}

/** Starts a server of each kind that needs one. */
export async function startStores(): Promise<TestStores> {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres({ fsync: "off" })]);
  const folder = mkdtempSync(join(tmpdir(), "latchkey-transfer-"));
  const opened: KeyStore[] = [];
  let count = 0;
  const openers: { readonly [Name in Kind]: (name: string) => KeyStore } = {
    memory: () => memoryStore(),
    sqlite: (name) => sqliteStore(join(folder, name)),
    redis: (name) => redisStore(redis.url, { ...PATIENT_REDIS, keyPrefix: name }),
    postgres: (name) => postgresStore(postgres.url, { ...PATIENT, schema: name }),
  };
  return {
    open: (kind) => {
      count += 1;
      const store = openers[kind](`store_${count}`);
      opened.push(store);
      return store;
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await Promise.all([redis.remove(), postgres.remove()]);
      rmSync(folder, { recursive: true });
    },
  };
}
