import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, type KeyStore } from "@latchkey/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { restore } from "./restore.js";
import { KINDS, type Kind, startStores, type TestStores } from "./testing/stores.js";

const START = Date.UTC(2030, 0, 15, 22);
const NEXT_DAY = Date.UTC(2030, 0, 16, 1);
const folder = mkdtempSync(join(tmpdir(), "latchkey-holds-"));
let stores: TestStores;

beforeAll(async () => {
  stores = await startStores();
});

afterAll(async () => {
  await stores.close();
  rmSync(folder, { recursive: true });
});

const openAt = (store: KeyStore, now: number) =>
  createLatchkey({ store, clock: () => now, usage: false });

/** Two keys of one identity, both rotated once, with open reservations of every sort. */
async function fill(store: KeyStore) {
  const latchkey = openAt(store, START);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const externalId = "user_1";
  await latchkey.createIdentity({
    externalId,
    ratelimits: [{ name: "shared", limit: 500, duration: "1d", algorithm: "sliding" }],
  });
  const made = await latchkey.createKey({
    apiId,
    externalId,
    remaining: 100,
    refill: { interval: "daily", amount: 100 },
    ratelimits: [
      { name: "hourly", limit: 200, duration: "1h" },
      { name: "slots", limit: 2, duration: "12h", algorithm: "concurrent" },
    ],
  });
  const ask = {
    key: made.key,
    remaining: { cost: 20 },
    ratelimits: [
      { name: "hourly", cost: 30 },
      { name: "shared", cost: 40 },
      { name: "made", cost: 3, limit: 9, duration: "1d" },
    ],
    ttl: "24h",
  } as const;
  const first = await latchkey.reserve(ask);
  const rotated = await latchkey.rotateKey({ keyId: made.keyId, graceMs: "30d" });
  const ratelimits = [{ name: "slots", cost: 1 }];
  const second = await latchkey.reserve({ ...ask, key: rotated.key, ratelimits });
  if (first.code !== "VALID" || second.code !== "VALID") throw new Error("they were refused");
  // A refill above the held uses is stored beside the counters, too.
  await openAt(store, NEXT_DAY).verifyKey({ key: rotated.key, remaining: { cost: 1 } });
  return { keyId: made.keyId, newKeyId: rotated.keyId, key: rotated.key, first, second };
}

/** The answers to everything that follows. All stores give the same. */
async function goOn(
  store: KeyStore,
  { keyId, newKeyId, key, first, second }: Awaited<ReturnType<typeof fill>>,
) {
  const latchkey = openAt(store, NEXT_DAY + 60_000);
  const answers: unknown[] = [await latchkey.listReservations({ keyId: newKeyId })];
  const { reservationId } = first;
  answers.push(await latchkey.settle({ reservationId, remaining: { cost: 5 } }));
  const took = { key, remaining: { cost: 0 }, ratelimits: [{ name: "slots", cost: 2 }] };
  answers.push((await latchkey.verifyKey(took)).code);
  answers.push(await latchkey.release({ reservationId: second.reservationId }));
  const { code, ratelimits } = { ratelimits: [], ...(await latchkey.verifyKey(took)) };
  answers.push(code, ratelimits);
  answers.push((await latchkey.getKey({ keyId })).remaining);
  answers.push((await latchkey.listReservations({ keyId })).reservations.length);
  return answers;
}

test.each(KINDS)("reservations of a %s store survive a copy and a backup", async (kind: Kind) => {
  const source = stores.open(kind);
  const filled = await fill(source);
  const path = join(folder, `${kind}.lkb`);
  await backup(source, path);
  const targets = KINDS.map((other) => stores.open(other));
  for (const target of targets) {
    await copy(source, target);
    // A second copy finds everything in place.
    const again = await copy(source, target).catch((error: unknown) => String(error));
    expect(again).toMatch(/arrived|not written to again/);
  }
  const restored = stores.open("memory");
  await restore(restored, path);
  const expected = await goOn(source, filled);
  expect(expected.slice(0, 5)).toMatchObject([
    { reservations: [{}, {}] },
    { taken: { uses: 5 } },
    "RATE_LIMITED",
    {},
    "VALID",
  ]);
  for (const target of [...targets, restored]) expect(await goOn(target, filled)).toEqual(expected);
});

test.each(KINDS)(
  "a sliding limit of a %s store whose latest units were returned survives a copy and a backup",
  async (kind: Kind) => {
    const source = stores.open(kind);
    const latchkey = openAt(source, START);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const ratelimit = { limit: 10, duration: "1h", algorithm: "sliding" } as const;
    const { key } = await latchkey.createKey({ apiId, ratelimit });
    await latchkey.verifyKey({ key });
    const later = START + 600_000;
    const held = await openAt(source, later).reserve({ key });
    if (held.code !== "VALID") throw new Error(held.code);
    await openAt(source, later).release({ reservationId: held.reservationId });
    const path = join(folder, `${kind}-sliding.lkb`);
    await backup(source, path);
    const [copied, restored] = [stores.open("memory"), stores.open("memory")];
    await copy(source, copied);
    await restore(restored, path);
    for (const at of [later, START + 3_600_000, START + 4_000_000]) {
      const [wanted, ...found] = await Promise.all(
        [source, copied, restored].map((store) => openAt(store, at).verifyKey({ key })),
      );
      expect(wanted?.code).toBe("VALID");
      expect(found).toEqual([wanted, wanted]);
    }
  },
);

/** A store that calls `before` when a live copy is about to set the fence. */
function beforeTheFence(store: KeyStore, before: () => Promise<unknown>): KeyStore {
  const commit: KeyStore["commit"] = async (workspaceId, change) => {
    if (change.puts.some(({ record }) => Object(record.body).state === "moved")) await before();
    return store.commit(workspaceId, change);
  };
  return new Proxy(store, {
    get(_, name) {
      const member: unknown = name === "commit" ? commit : Reflect.get(store, name);
      return typeof member === "function" ? member.bind(store) : member;
    },
  });
}

test.each(KINDS)(
  "a live copy of a %s store ends at once if a reservation expires just before the fence",
  async (kind: Kind) => {
    const [source, target] = [stores.open(kind), stores.open(kind)];
    const latchkey = openAt(source, START);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const ratelimit = { limit: 9, duration: "1m", algorithm: "sliding" } as const;
    const { key } = await latchkey.createKey({ apiId, ratelimit });
    await latchkey.verifyKey({ key });
    await latchkey.reserve({ key, ttl: "1s" });
    const later = START + 2_000;
    const fencing = beforeTheFence(source, () => openAt(source, later).verifyKey({ key }));
    await copy(fencing, target, { live: true });
    const moved = await openAt(target, later).verifyKey({ key });
    expect(moved).toMatchObject({ code: "VALID", ratelimit: { limit: 9, remaining: 6 } });
  },
);
