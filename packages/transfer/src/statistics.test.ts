import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, type KeyStore, type StatisticsSubject } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { restore } from "./restore.js";
import { KINDS, startStores, type TestStores } from "./testing/stores.js";

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 10);
const WORKSPACE = "ws_default";
const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20261127);
/** `LATCHKEY_FUZZ_RUNS=10` multiplies the runs by ten. */
const RUNS = 6 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

const folder = mkdtempSync(join(tmpdir(), "latchkey-statistics-"));
let stores: TestStores;
let files = 0;

beforeAll(async () => {
  stores = await startStores();
});
afterAll(async () => {
  await stores.close();
  rmSync(folder, { recursive: true });
});

/** A store restored from a backup of this one. */
async function throughBackup(store: KeyStore): Promise<KeyStore> {
  const path = join(folder, `${files++}.lkb`);
  await backup(store, path);
  const restored = memoryStore();
  await restore(restored, path);
  return restored;
}

/** A change of a store's statistics. Numbers refer to subjects. */
type Event =
  | { readonly kind: "count"; readonly subject: number; readonly hour: number; readonly by: number }
  | { readonly kind: "forget"; readonly subject: number }
  | { readonly kind: "prune"; readonly day: number };

const subject = fc.nat({ max: 9 });
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("count" as const),
      subject,
      hour: fc.nat({ max: 99 }),
      by: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), subject }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("prune" as const), day: fc.nat({ max: 4 }) }),
  },
);

async function happen(store: KeyStore, subjects: readonly StatisticsSubject[], one: Event) {
  if (one.kind === "prune")
    return store.deleteStatistics(WORKSPACE, START + one.day * DAY_MS, 1_000);
  const of = subjects[one.subject] as StatisticsSubject;
  if (one.kind === "forget")
    return store.deleteStatistics(WORKSPACE, START + 99 * DAY_MS, 1_000, [of]);
  const hourAt = START + one.hour * 3_600_000;
  const code = one.by % 2 === 0 ? "VALID" : "RATE_LIMITED";
  const count = { subject: of, hourAt, code, count: one.by } as const;
  return store.addStatistics(WORKSPACE, { counts: [count], uses: [] });
}

async function sumsOf(store: KeyStore, subjects: readonly StatisticsSubject[]) {
  const all: string[] = [];
  for (const one of subjects) {
    const range = { subject: one, startAt: 0, endAt: START + 99 * DAY_MS };
    for (const { hourAt, code, count } of await store.readStatistics(WORKSPACE, range))
      all.push(`${one.kind} ${one.id} ${hourAt} ${code} ${count}`);
  }
  return all.sort();
}

/** Ten subjects, half of them with a record. */
async function fillWith(store: KeyStore): Promise<readonly StatisticsSubject[]> {
  const latchkey = createLatchkey({ store: { ...store, close: async () => undefined } });
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const subjects: StatisticsSubject[] = [{ kind: "api", id: apiId }];
  for (const isKept of [true, true, false, false]) {
    const { keyId } = await latchkey.createKey({ apiId });
    subjects.push({ kind: "key", id: keyId });
    if (!isKept) await latchkey.deleteKey({ keyId });
  }
  for (const isKept of [true, false]) {
    const { identityId } = await latchkey.createIdentity({ externalId: `user_${isKept}` });
    subjects.push({ kind: "identity", id: identityId });
    if (!isKept) await latchkey.deleteIdentity({ identityId });
  }
  const gone = (kind: StatisticsSubject["kind"], id: string) => ({ kind, id });
  return [...subjects, gone("tag", "north"), gone("api", "api_gone"), gone("key", "key_gone")];
}

const WAYS = KINDS.map((from, at) => [from, KINDS[(at + 1) % KINDS.length] ?? "memory"] as const);

describe.each(WAYS)("statistics on %s", (from, to) => {
  test(`are the same on ${to} after a copy that was interrupted, whatever happened meanwhile, and after a restore (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 30 }),
        fc.array(event, { maxLength: 12 }),
        async (before, meanwhile) => {
          const [source, target] = [stores.open(from), stores.open(to)];
          const subjects = await fillWith(source);
          for (const one of before) await happen(source, subjects, one);
          const breaking: KeyStore = new Proxy(source, {
            get: (store, name) =>
              name === "scan"
                ? async (workspaceId: string | null, after: string | null) => {
                    if (workspaceId !== null) throw new Error("interrupted");
                    return store.scan(workspaceId, after);
                  }
                : Reflect.get(store, name),
          });
          await expect(copy(breaking, target)).rejects.toThrow("interrupted");
          expect(await sumsOf(target, subjects)).toEqual(await sumsOf(source, subjects));
          for (const one of meanwhile) await happen(source, subjects, one);
          const { digest } = await copy(source, target);
          expect(digest).not.toBeNull();
          const expected = await sumsOf(source, subjects);
          expect(await sumsOf(target, subjects)).toEqual(expected);
          expect(await sumsOf(await throughBackup(target), subjects)).toEqual(expected);
        },
      ),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

test("more deleted subjects than are read at once arrive, by copy and by backup", async () => {
  const source = memoryStore();
  const latchkey = createLatchkey({ store: { ...source, close: async () => undefined } });
  await latchkey.createApi({ name: "tiles" });
  const subjects = Array.from({ length: 1_300 }, (_, number): StatisticsSubject => {
    return { kind: "key", id: `key_${10_000 + number}` };
  });
  for (const number of subjects.keys())
    await happen(source, subjects, { kind: "count", subject: number, hour: number % 60, by: 1 });
  const expected = await sumsOf(source, subjects);
  const target = stores.open("sqlite");
  await copy(source, target);
  expect(await sumsOf(target, subjects)).toEqual(expected);
  expect(await sumsOf(await throughBackup(target), subjects)).toEqual(expected);
});

test.each(["copy", "live", "backup"])(
  "usage rows of a deleted key can be exported from its %s",
  async (how) => {
    let now = START;
    const clock = () => now;
    const source = memoryStore();
    const latchkey = createLatchkey({ store: { ...source, close: async () => undefined }, clock });
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      externalId: "pier-7",
      tags: ["north"],
    });
    await latchkey.verifyKey({ key });
    await latchkey.deleteKey({ keyId });
    await latchkey.close();
    now += 2 * DAY_MS;
    const rowsOf = async (store: KeyStore, by: "key" | "identity" | "tag") =>
      (
        await createLatchkey({ store, clock }).exportUsage({
          start: START - DAY_MS,
          end: now,
          granularity: "day",
          by,
        })
      ).rows;
    const target = how === "backup" ? await throughBackup(source) : memoryStore();
    if (how !== "backup") await copy(source, target, { live: how === "live" });
    for (const by of ["key", "identity", "tag"] as const) {
      expect(await rowsOf(source, by)).toHaveLength(1);
      expect(await rowsOf(target, by)).toEqual(await rowsOf(source, by));
    }
  },
);

test("a store of an earlier version, which cannot list days with counts, is copied without the counts of deleted records", async () => {
  const { nextStatisticsDay: _, ...source } = memoryStore();
  const latchkey = createLatchkey({ store: { ...memoryStore(), ...source } });
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const target = memoryStore();
  await copy(source as KeyStore, target);
  expect((await createLatchkey({ store: target }).getApi({ apiId })).name).toBe("tiles");
});
