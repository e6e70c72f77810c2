import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { type PostgresStoreOptions, postgresStore } from "@latchkey/postgres";
import { type RedisStoreOptions, redisStore } from "@latchkey/redis";
import { type SqliteStoreOptions, sqliteStore } from "@latchkey/sqlite";
import { parseStoreUrl } from "./store-url.js";

/** Options of each kind of store. Only those of the URL's store are used. */
export interface OpenStoreOptions {
  readonly sqlite?: SqliteStoreOptions;
  readonly redis?: RedisStoreOptions;
  readonly postgres?: PostgresStoreOptions;
}

const STORES_WITH_OPTIONS: readonly string[] = [
  "sqlite",
  "redis",
  "postgres",
] satisfies (keyof OpenStoreOptions)[];

/**
 * Opens the store of a URL.
 *
 * @param url - `memory:`, `sqlite:./keys.db`, `sqlite:/var/lib/keys.db`, `sqlite::memory:`, `redis://host:6379/0`,
 * `rediss://host:6379/0` (TLS), `redis+cluster://a:6379,b:6379` or `postgres://user@host/database`.
 * @throws TypeError for any other URL, repeating only its scheme, and for an unknown option; and what the store throws if it cannot be opened.
 */
export function openStore(url: string, options: OpenStoreOptions = {}): KeyStore {
  const wanted = parseStoreUrl(url);
  const unknown = Object.keys(options).find((name) => !STORES_WITH_OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new TypeError(
      `"${unknown}" is not an option of openStore: those of a store are in "sqlite", "redis" or "postgres"`,
    );
  switch (wanted.kind) {
    case "memory":
      return memoryStore();
    case "sqlite":
      return sqliteStore(wanted.path, options.sqlite);
    case "redis":
      return redisStore(wanted.url, options.redis);
    case "postgres":
      return postgresStore(wanted.url, options.postgres);
    default:
      return wanted satisfies never;
  }
}
