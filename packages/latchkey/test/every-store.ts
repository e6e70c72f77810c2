import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describeOnSharedPostgres } from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import { describeOnSharedRedis, PATIENT } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { describe } from "vitest";
import { tempFolder } from "../src/testing/temp-folder.js";
import { type OpenContext, openContext } from "./test-context.js";

/** How many runs of random or enumerated steps a law makes on a store, of these on memory. */
export type RunsOf = (onMemory: number) => number;

/**
 * Runs on servers and files take much longer than on memory, and go through the same rules: there are fewer of them, but two at least
 * where memory has four. `LATCHKEY_FUZZ_RUNS=10` makes ten times as many on every store.
 */
const runsOf =
  (share: number): RunsOf =>
  (onMemory) => {
    const runs = Math.max(onMemory * share, Math.min(2, onMemory / 4));
    return Math.ceil(runs * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1"));
  };

type Define = (open: OpenContext, runs: RunsOf) => void;

/**
 * Defines tests of a rule of core, or of a text of the edge: what a store keeps and counts has no part in the promise. They run on memory,
 * and on every store with `LATCHKEY_TEST_STORES=all`, as they do every week.
 */
export function describeOnMemoryOrAll(title: string, define: Define): void {
  if (process.env.LATCHKEY_TEST_STORES === "all") describeOnEveryStore(title, define);
  else describeOnMemoryWithRuns(title, define);
}

function describeOnMemoryWithRuns(title: string, define: Define): void {
  describe(`${title} on memory`, () =>
    define((options) => {
      const store = memoryStore();
      return openContext(() => store, options);
    }, runsOf(1)));
}

/** Defines the same tests on every store. `another()` has a handle of its own there, as another process has. */
export function describeOnEveryStore(title: string, define: Define): void {
  describeOnMemoryWithRuns(title, define);

  describe(`${title} on SQLite`, () =>
    define(
      (options) => {
        const path = join(tempFolder(), "keys.db");
        return openContext(() => sqliteStore(path), options);
      },
      runsOf(1 / 4),
    ));

  describeOnSharedRedis(`${title} on Redis`, (url) =>
    define(
      (options) => {
        const keyPrefix = `test:${randomUUID()}`;
        return openContext(() => openRedis(url(), keyPrefix), options);
      },
      runsOf(1 / 8),
    ),
  );

  describeOnSharedPostgres(`${title} on PostgreSQL`, (nextSchema) =>
    define((options) => openContext(nextSchema(), options), runsOf(1 / 8)),
  );
}

/** Whatever the server of REDIS_URL is set to, it holds tests only; and a busy machine answers late. */
function openRedis(url: string, keyPrefix: string): KeyStore {
  return redisStore(url, {
    keyPrefix,
    allowEviction: true,
    allowNoPersistence: true,
    ...PATIENT,
  });
}
