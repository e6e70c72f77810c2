/**
 * Uses one store like an application for a given time, and reports whether the memory and the handles of the process grow: `npm run soak --
 * --store sqlite --minutes 60`. Exits with 1 if they do.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createLatchkey, type Latchkey, LatchkeyError } from "@latchkey/core";
import { serverOf } from "./fixture/servers.js";
import {
  openStore,
  postgresPool,
  redisClient,
  STORE_KINDS,
  type StoreKind,
  type StoreLocation,
} from "./fixture/stores.js";
import { seededRandom, uniform } from "./measure/random.js";

/** Keys in use at a time. */
const KEYS = 50;
const TICK_MS = 50;
/** Samples per run, whatever its length. */
const SAMPLES = 60;
/** Age at which audit entries are deleted, so that the log does not grow. */
const KEPT_MS = 60_000;
/** Largest ratio of the heap in the last quarter to that in the second one that does not count as growth. */
const MOST_GROWTH = 1.05;

interface Sample {
  readonly heapMB: number;
  readonly rssMB: number;
  readonly handles: number;
  readonly storedMB: number;
}

const { store, minutes, pace, seed } = readArguments();
const random = seededRandom(seed);
const below = (size: number) => uniform(size, random)();
const folder = mkdtempSync(join(tmpdir(), "latchkey-soak-"));
const server = await serverOf(store)?.start(folder, { isDurable: true });
const location: StoreLocation = { folder, server: server?.address ?? null, connections: 10 };
const storedBytes = await measureOf(store, location);
process.once("exit", () => {
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const latchkey = createLatchkey({
  store: await openStore(store, location, "soak"),
  // Room for all keys in use and some deleted ones. With the default it would take hours until the cache is full.
  maxCachedKeys: 4 * KEYS,
});
const calls = new Map<string, number>();
const samples = await soak(latchkey);
await latchkey.close();
await server?.stop();
report();
process.exit();

async function soak(application: Latchkey): Promise<readonly Sample[]> {
  const { apiId } = await application.createApi({ name: "tide tables" });
  const keys: { readonly key: string; readonly keyId: string }[] = [];
  const create = async () => {
    const { key, keyId } = await application.createKey({
      apiId,
      externalId: `harbour ${below(KEYS)}`,
      remaining: 1_000_000,
      ratelimits: [{ name: "requests", limit: 1_000, duration: 10_000, autoApply: true }],
    });
    keys.push({ key, keyId });
  };
  while (keys.length < KEYS) await create();
  const anyKey = () => keys[below(keys.length)] as (typeof keys)[number];
  let number = 0;
  const another = () => {
    number += 1;
    return number;
  };

  /** The calls of the application, with their share in percent. */
  const work: readonly (readonly [share: number, name: string, call: () => Promise<unknown>])[] = [
    [57, "verifyKey", () => application.verifyKey({ key: anyKey().key })],
    [
      10,
      "verifyKey with requestId",
      () => application.verifyKey({ key: anyKey().key, requestId: `request ${another()}` }),
    ],
    [10, "verifyKey, made up", () => application.verifyKey({ key: `made up ${another()}` })],
    [
      12,
      "limit",
      () => {
        const identifier = `address ${another()}`;
        return application.limit({ namespace: "sign-in", identifier, limit: 3, duration: 1_000 });
      },
    ],
    [
      // Few, because the end of a reservation is remembered for an hour, also in memory.
      1,
      "reserve",
      async () => {
        const { key } = anyKey();
        const made = await application.reserve({ key, remaining: { cost: 5 }, ttl: 5_000 });
        // A quarter are left to expire.
        if (made.valid && below(4) > 0)
          await application.settle({
            reservationId: made.reservationId,
            remaining: { cost: below(6) },
          });
      },
    ],
    [4, "updateKey", () => application.updateKey({ keyId: anyKey().keyId, name: `${below(9)}` })],
    [3, "listKeys", () => application.listKeys({ apiId, limit: 20 })],
    [
      3,
      "deleteKey, createKey",
      async () => {
        const [oldest] = keys.splice(0, 1);
        await Promise.all([create(), application.deleteKey({ keyId: oldest?.keyId ?? "" })]);
      },
    ],
  ];
  const chosen = work.flatMap((one) => Array<typeof one>(one[0]).fill(one));
  const endsAt = performance.now() + minutes * 60_000;
  const sampleMs = (minutes * 60_000) / SAMPLES;
  let sampleAt = performance.now() + sampleMs;
  const taken: Sample[] = [];
  while (performance.now() < endsAt) {
    const tick = pause(TICK_MS);
    const count = Math.ceil((pace * TICK_MS) / 1_000);
    await Promise.all(
      Array.from({ length: count }, async () => {
        const [, name, call] = chosen[below(chosen.length)] as (typeof work)[number];
        calls.set(name, (calls.get(name) ?? 0) + 1);
        await call().catch(passGone);
      }),
    );
    await tick;
    if (performance.now() < sampleAt) continue;
    sampleAt += sampleMs;
    await prune(application);
    taken.push(await sample());
    process.stderr.write(`${JSON.stringify(taken.at(-1))}\n`);
  }
  return taken;
}

/** Ignores NOT_FOUND: a key may be deleted while it is in use. */
function passGone(error: unknown): void {
  if (!(error instanceof LatchkeyError && error.code === "NOT_FOUND")) throw error;
}

async function prune(application: Latchkey): Promise<void> {
  const before = application.now() - KEPT_MS;
  while ((await application.pruneAuditEvents({ before })).deleted > 0);
}

async function sample(): Promise<Sample> {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return {
    heapMB: heapUsed / 1e6,
    rssMB: rss / 1e6,
    handles: process.getActiveResourcesInfo().length,
    storedMB: (await storedBytes()) / 1e6,
  };
}

/** A function that returns the stored bytes of a store. */
async function measureOf(kind: StoreKind, location: StoreLocation): Promise<() => Promise<number>> {
  if (kind === "memory") return async () => 0;
  if (kind === "sqlite")
    return async () => {
      const paths = readdirSync(location.folder).map((name) => join(location.folder, name));
      return paths.reduce((sum, path) => sum + statSync(path).size, 0);
    };
  if (kind === "redis") {
    const client = await redisClient(location);
    return async () => Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
  }
  const pool = await postgresPool(location, "soak");
  const size = "SELECT pg_catalog.pg_database_size(current_database())::text AS size";
  return async () => Number((await pool.query(size)).rows[0].size);
}

function report(): void {
  const quarter = Math.floor(samples.length / 4);
  const median = (of: (sample: Sample) => number, from: number) =>
    samples
      .slice(from, from + quarter)
      .map(of)
      .sort((one, other) => one - other)[quarter >> 1] ?? 0;
  const grown = (of: (sample: Sample) => number) =>
    [median(of, quarter), median(of, samples.length - quarter)] as const;
  const heap = grown(({ heapMB }) => heapMB);
  const handles = grown(({ handles: open }) => open);
  const sum = [...calls.values()].reduce((total, count) => total + count, 0);
  const pairs = { heap, rss: grown(({ rssMB }) => rssMB), stored: grown((one) => one.storedMB) };
  const megabytes = Object.entries(pairs).map(
    ([name, [early, late]]) => `${name} ${early.toFixed(1)} → ${late.toFixed(1)} MB`,
  );
  process.stdout.write(
    `${store}: ${minutes} minutes, ${sum} calls, ${megabytes.join(", ")}, handles ${handles.join(" → ")}\n`,
  );
  for (const [name, count] of calls) process.stdout.write(`  ${name}: ${count}\n`);
  if (heap[1] > heap[0] * MOST_GROWTH || handles[1] > handles[0]) {
    process.stderr.write("the heap or the handles have grown\n");
    process.exitCode = 1;
  }
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      store: { type: "string", default: "sqlite" },
      minutes: { type: "string", default: "60" },
      pace: { type: "string", default: "200" },
      seed: { type: "string", default: "1" },
    },
  });
  const kind = STORE_KINDS.find((one) => one === values.store);
  if (kind === undefined) throw new TypeError(`--store must be one of ${STORE_KINDS.join(", ")}`);
  const [length, calls, start] = [values.minutes, values.pace, values.seed].map(Number);
  if (!(Number(length) > 0)) throw new TypeError("--minutes must be a number above 0");
  if (!(Number(calls) > 0))
    throw new TypeError("--pace must be a number of calls a second above 0");
  return {
    store: kind,
    minutes: Number(length),
    pace: Number(calls),
    seed: Number(start),
  };
}
