import { hash as digest } from "node:crypto";
import Database from "better-sqlite3";
import {
  databasePath,
  postgresPool,
  redisClient,
  type StoreKind,
  type StoreLocation,
  schemaName,
} from "../fixture/stores.js";
import type { Question } from "../questions.js";
import { AbsentError, type Side } from "./side.js";

/** The value that `consume` resolves with, and rejects with if the limit is exceeded. */
interface ConsumeResult {
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
}

/** Why it cannot answer a question; null: it can. */
function whyNotRateLimiter({ expected, keys, named }: Question): string | null {
  const isWindowOnly = keys.limits.length === 1 && named.length === 0 && !keys.isExpired;
  const isAnswered = expected === "VALID" || expected === "RATE_LIMITED";
  return isWindowOnly && isAnswered
    ? null
    : "rate-limiter-flexible counts one window and knows no keys: shown where one window is counted";
}

/**
 * rate-limiter-flexible, which counts one window by the hash of the secret. It has no keys, permissions or uses, so it does less than the
 * others.
 *
 * @throws AbsentError if it is not installed or the question has no window for it to count.
 */
export async function rateLimiterSide(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  secrets: readonly string[],
  question: Question,
): Promise<Side> {
  const reason = whyNotRateLimiter(question);
  if (reason !== null) throw new AbsentError(reason);
  const limiter = await openLimiter(kind, location, name, question);
  return {
    name: "rate-limiter-flexible",
    verify: async (secret) => {
      try {
        return await limiter.consume(digest("sha256", secret, "base64url"));
      } catch (refusal) {
        // It refuses by rejecting with a result; an Error is a failure.
        if (refusal instanceof Error) throw refusal;
        return { refused: refusal as ConsumeResult };
      }
    },
    isExpected: (verdict) =>
      "refused" in (verdict as object) === (question.expected === "RATE_LIMITED"),
    remainingOf: () => null,
    keyCount: secrets.length,
    close: async () => undefined,
  };
}

async function openLimiter(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  question: Question,
) {
  const limiters = await loadLimiters();
  const shape = question.keys.limits[0];
  const points = shape?.limit ?? 1;
  // In seconds. At most a day, because its memory limiter sets a timer, which cannot exceed 2^31 ms.
  const duration = Math.min((shape?.duration ?? 0) / 1_000, 86_400);
  switch (kind) {
    case "memory":
      return new limiters.RateLimiterMemory({ points, duration });
    case "redis": {
      const storeClient = await redisClient(location);
      return new limiters.RateLimiterRedis({ storeClient, keyPrefix: name, points, duration });
    }
    case "sqlite": {
      const storeClient = new Database(databasePath(location, name));
      storeClient.pragma("journal_mode = WAL");
      storeClient.pragma("synchronous = NORMAL");
      const options = { storeClient, storeType: "better-sqlite3", tableName: "windows" };
      return whenReady((onReady) => {
        return new limiters.RateLimiterSQLite({ ...options, points, duration }, onReady);
      });
    }
    case "postgres": {
      const schema = schemaName(name);
      const storeClient = await postgresPool(location, schema);
      const options = { storeClient, storeType: "pool", schemaName: schema, tableName: "windows" };
      return whenReady((onReady) => {
        return new limiters.RateLimiterPostgres({ ...options, points, duration }, onReady);
      });
    }
    default:
      return kind satisfies never;
  }
}

/** Waits until a limiter has created its table. */
function whenReady<Limiter>(open: (onReady: (error?: Error) => void) => Limiter): Promise<Limiter> {
  return new Promise((resolve, reject) => {
    const limiter = open((error) => (error === undefined ? resolve(limiter) : reject(error)));
  });
}

async function loadLimiters() {
  try {
    return await import("rate-limiter-flexible");
  } catch {
    throw new AbsentError("rate-limiter-flexible is not installed");
  }
}
