import {
  databasePath,
  postgresPool,
  redisClient,
  type StoreKind,
  type StoreLocation,
} from "../fixture/stores.js";
import { rawMemory } from "./memory.js";
import { rawPostgres } from "./postgres.js";
import { rawRedis } from "./redis.js";
import type { RawStore } from "./rows.js";
import { rawSqlite } from "./sqlite.js";

/** Opens an empty store for hand-written rows. */
export async function openRaw(kind: StoreKind, location: StoreLocation): Promise<RawStore> {
  switch (kind) {
    case "memory":
      return rawMemory();
    case "sqlite":
      return rawSqlite(databasePath(location, "raw"));
    case "redis":
      return rawRedis(await redisClient(location));
    case "postgres":
      return rawPostgres(await postgresPool(location, "raw"));
    default:
      return kind satisfies never;
  }
}
