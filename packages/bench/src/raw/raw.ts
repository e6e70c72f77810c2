import {
  databasePath,
  type Place,
  postgresPool,
  redisClient,
  type StoreKind,
} from "../fixture/stores.js";
import { rawMemory } from "./memory.js";
import { rawPostgres } from "./postgres.js";
import { rawRedis } from "./redis.js";
import type { RawStore } from "./rows.js";
import { rawSqlite } from "./sqlite.js";

/** Opens an empty store for rows written by hand. */
export async function openRaw(kind: StoreKind, place: Place): Promise<RawStore> {
  switch (kind) {
    case "memory":
      return rawMemory();
    case "sqlite":
      return rawSqlite(databasePath(place, "raw"));
    case "redis":
      return rawRedis(await redisClient(place));
    case "postgres":
      return rawPostgres(await postgresPool(place, "raw"));
    default:
      return kind satisfies never;
  }
}
