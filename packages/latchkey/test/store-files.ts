import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { postgresStore } from "@latchkey/postgres";
import { ask, PATIENT, startServer as startPostgres } from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import { PATIENT as PATIENT_REDIS, startServer as startRedis } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { onTestFinished } from "vitest";
import { filesBelow, secretFinder } from "../src/testing/find-secrets.js";
import { tempFolder } from "../src/testing/temp-folder.js";

type Files = readonly (readonly [path: string, bytes: Buffer])[];

/** A store whose files can be read. */
export interface Site {
  readonly store: KeyStore;
  /** The files after deleted data was purged. This may close the store. */
  readonly files: () => Promise<Files>;
}

export async function openSqlite(): Promise<Site> {
  const folder = tempFolder();
  const store = sqliteStore(join(folder, "keys.db"));
  return {
    store,
    files: async () => {
      await store.close();
      return filesBelow(folder);
    },
  };
}

export async function openRedis(): Promise<Site> {
  const server = await startRedis({});
  onTestFinished(server.remove);
  const control = server.connect();
  const store = redisStore(server.url, PATIENT_REDIS);
  onTestFinished(() => store.close());
  return {
    store,
    files: async () => {
      await control.bgrewriteaof();
      for (let isBusy = true; isBusy; ) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        const info = await control.info("persistence");
        isBusy = !/aof_rewrite_in_progress:0/.test(info) || !/aof_rewrite_scheduled:0/.test(info);
      }
      await control.save();
      control.disconnect();
      return filesBelow(server.directory);
    },
  };
}

export async function openPostgres(): Promise<Site> {
  const server = await startPostgres({ fsync: "off" });
  onTestFinished(server.remove);
  const store = postgresStore(server.url, PATIENT);
  onTestFinished(() => store.close());
  return {
    store,
    files: async () => {
      // A plain VACUUM leaves deleted data in the free space of pages.
      await ask(server, "VACUUM (FULL, ANALYZE)");
      await ask(server, "CHECKPOINT");
      return filesBelow(join(server.folder, "data", "base"));
    },
  };
}

/** The places of texts in files, in five encodings. */
export function found(files: Files, texts: Iterable<string>): readonly string[] {
  const wanted = [...texts];
  return files.flatMap(([path, bytes]) => secretFinder(wanted)(path, bytes));
}
