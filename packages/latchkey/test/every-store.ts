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

/** Number of random or enumerated runs of a law on a store, given the number on memory. */
export type RunsOf = (onMemory: number) => number;

/**
 * Runs on servers and files take much longer than on memory, and exercise the same rules, so there are fewer of them, but at least two if
 * memory has four. `LATCHKEY_FUZZ_RUNS=10` makes ten times as many on every store.
 */
const runsOf =
  (share: number): RunsOf =>
  (onMemory) => {
    const runs = Math.max(onMemory * share, Math.min(2, onMemory / 4));
    return Math.ceil(runs * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1"));
  };

type Define = (open: OpenContext, runs: RunsOf) => void;

/**
 * Defines tests of a rule of core, or of a text at the edge, whose promise does not depend on how a store keeps and counts. They run on
 * memory, and every week on all stores, with `LATCHKEY_TEST_STORES=all`.
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

/** Defines the same tests on every store. There, `another()` opens its own handle, like another process. */
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

/** Accepts any configuration of the server at REDIS_URL, which contains only test data, and late answers of a busy machine. */
function openRedis(url: string, keyPrefix: string): KeyStore {
  return redisStore(url, {
    keyPrefix,
    allowEviction: true,
    allowNoPersistence: true,
    ...PATIENT,
  });
}
