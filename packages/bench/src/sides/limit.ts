import type { KeyRow } from "../fixture/rows.js";
import {
  databasePath,
  postgresPool,
  redisClient,
  type StoreKind,
  type StoreLocation,
  schemaName,
} from "../fixture/stores.js";
import type { Question } from "../questions.js";
import { memoryLimit } from "./limit-memory.js";
import { postgresLimit } from "./limit-postgres.js";
import { redisLimit } from "./limit-redis.js";
import { sqliteLimit } from "./limit-sqlite.js";
import type { Side, Verify } from "./side.js";
import type { LimitVerdict } from "./verdict.js";

/** A hand-written side that does the least work to answer a question on a store, with the keys of `rows`. */
export async function limitSide(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  rows: readonly KeyRow[],
  question: Question,
): Promise<Side> {
  return {
    name: "limit",
    verify: await openLimit(kind, location, name, rows, question),
    isExpected: (verdict) => (verdict as LimitVerdict).code === question.expected,
    remainingOf: (verdict) => (verdict as LimitVerdict).remaining ?? null,
    keyCount: rows.length,
    // Its file and its connection are closed when the process ends.
    close: async () => undefined,
  };
}

async function openLimit(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  rows: readonly KeyRow[],
  question: Question,
): Promise<Verify> {
  switch (kind) {
    case "memory":
      return memoryLimit(rows, question);
    case "sqlite":
      return sqliteLimit(databasePath(location, name), rows, question);
    case "redis":
      return redisLimit(await redisClient(location), name, rows, question);
    case "postgres":
      return postgresLimit(await postgresPool(location, schemaName(name)), rows, question);
    default:
      return kind satisfies never;
  }
}
