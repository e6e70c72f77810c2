import { createLatchkey, type KeyStore, type Latchkey } from "@latchkey/core";
import { expect } from "vitest";

/** The instant of all operations. */
const NOW = Date.UTC(2030, 0, 15, 10, 20, 30, 400);

const RING = {
  current: "v1",
  keys: { v1: Uint8Array.from({ length: 32 }, (_, index) => index) },
};

/** A latchkey over a store at {@link NOW}. Closing it writes its statistics, and leaves the store open. */
export function latchkeyOn(store: KeyStore): Latchkey {
  const borrowed = { ...store, close: async () => undefined };
  return createLatchkey({
    store: borrowed,
    clock: () => NOW,
    vault: RING,
    usage: { flushMs: 3_600_000 },
  });
}

/** Secrets and ids of the records that {@link fill} creates. */
export interface Filled {
  readonly plain: string;
  /** 3 of 10 uses left. */
  readonly counted: string;
  readonly countedId: string;
  /** 2 of 5 units left in its window. */
  readonly limited: string;
  /** 1 of 5 units left in a window of the same name. */
  readonly limitedToo: string;
  /** A rotated key and its successor, which share 6 of 8 uses and 1 of 4 units. */
  readonly rotated: readonly [string, string];
  readonly recoverable: string;
  readonly recoverableId: string;
  /** Of an identity whose keys share 4 of 5 uses, with a role and a permission. */
  readonly shared: string;
  readonly apiId: string;
  readonly rootKey: string;
  /** A key of another workspace. */
  readonly elsewhere: string;
}

async function use(latchkey: Latchkey, key: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const { valid } = await latchkey.verifyKey({ key });
    if (!valid) throw new Error("a key of the fixture does not verify");
  }
}

/** One of everything, used a little. The statistics are written. */
export async function fill(store: KeyStore): Promise<Filled> {
  const latchkey = latchkeyOn(store);
  const { apiId } = await latchkey.createApi({ name: "tiles", ipWhitelist: [] });
  const plain = await latchkey.createKey({
    apiId,
    name: "plain",
    meta: { plan: "free", "2": 1 },
    tags: ["eu", "billing:2"],
  });
  const counted = await latchkey.createKey({
    apiId,
    remaining: 10,
    refill: { interval: "daily", amount: 10 },
  });
  await use(latchkey, counted.key, 2);
  // Charges of one use, of several, of none, and a repetition that takes none.
  for (const cost of [4, 0]) await latchkey.verifyKey({ key: counted.key, remaining: { cost } });
  for (let time = 0; time < 2; time += 1)
    await latchkey.verifyKey({ key: counted.key, requestId: "request 1" });
  const limited = await latchkey.createKey({ apiId, ratelimit: { limit: 5, duration: 3_600_000 } });
  await use(latchkey, limited.key, 3);
  const limitedToo = await latchkey.createKey({
    apiId,
    ratelimit: { limit: 5, duration: 3_600_000 },
  });
  await use(latchkey, limitedToo.key, 4);
  const old = await latchkey.createKey({
    apiId,
    remaining: 8,
    refill: { interval: { every: "90m" }, amount: 1 },
    ratelimit: { limit: 4, duration: 86_400_000 },
  });
  await use(latchkey, old.key, 1);
  const successor = await latchkey.rotateKey({ keyId: old.keyId, graceMs: 86_400_000 });
  await use(latchkey, successor.key, 1);
  await use(latchkey, old.key, 1);
  await latchkey.updateKey({ keyId: old.keyId, remaining: 6 });
  const recoverable = await latchkey.createKey({ apiId, recoverable: true });
  await latchkey.createPermission({ name: "tiles.read" });
  await latchkey.createRole({ name: "reader", permissions: ["tiles.read"] });
  await latchkey.createIdentity({
    externalId: "acct é",
    meta: { seats: 3 },
    remaining: 5,
    ratelimits: [{ name: "calls", limit: 9, duration: 3_600_000, autoApply: true }],
  });
  const shared = await latchkey.createKey({
    apiId,
    externalId: "acct é",
    usesFrom: "identity",
    roles: ["reader"],
    permissions: ["tiles.read"],
  });
  await use(latchkey, shared.key, 1);
  await latchkey.limit({ namespace: "mail", identifier: "a@b", limit: 10, duration: 60_000 });
  await latchkey.verifyKey({
    key: plain.key,
    ratelimits: [{ name: "x y", limit: 2, duration: 1_000 }],
  });
  const rootKey = await latchkey.createRootKey({ permissions: ["*"] });
  const other = latchkey.workspace("ws_other");
  const api = await other.createApi({ name: "other" });
  const elsewhere = await other.createKey({ apiId: api.apiId, remaining: 1 });
  await latchkey.close();
  return {
    plain: plain.key,
    counted: counted.key,
    countedId: counted.keyId,
    limited: limited.key,
    limitedToo: limitedToo.key,
    rotated: [old.key, successor.key],
    recoverable: recoverable.key,
    recoverableId: recoverable.keyId,
    shared: shared.key,
    apiId,
    rootKey: rootKey.key,
    elsewhere: elsewhere.key,
  };
}

/** Asserts that a store has everything that {@link fill} created, with what is left of it. */
export async function assertArrived(store: KeyStore, filled: Filled): Promise<void> {
  const range = { startAt: 0, endAt: Number.MAX_SAFE_INTEGER };
  for (const id of ["eu", "billing:2"])
    expect(
      await store.readStatistics("ws_default", { subject: { kind: "tag", id }, ...range }),
    ).toContainEqual(expect.objectContaining({ code: "VALID" }));
  const ofCounted = { kind: "key", id: filled.countedId } as const;
  const sums = await store.readStatistics("ws_default", { subject: ofCounted, ...range });
  expect(Object.fromEntries(sums.map(({ code, count }) => [code, count]))).toEqual({
    VALID: 6,
    EXTRA_USES: 3,
    FREE: 2,
  });
  const latchkey = latchkeyOn(store);
  const left = async (key: string) => {
    const verdict = await latchkey.verifyKey({ key, remaining: { cost: 0 } });
    return [verdict.code, "remaining" in verdict ? verdict.remaining : undefined];
  };
  expect(await left(filled.plain)).toEqual(["VALID", undefined]);
  expect(await left(filled.counted)).toEqual(["VALID", 3]);
  expect(await left(filled.shared)).toEqual(["VALID", 4]);
  const { rotated, limited } = filled;
  expect(await left(rotated[1])).toEqual(["VALID", 6]);
  const shared = [];
  for (const key of [rotated[0], rotated[1]]) shared.push(await latchkey.verifyKey({ key }));
  expect(shared.map(({ code }) => code)).toEqual(["RATE_LIMITED", "RATE_LIMITED"]);
  const codes = [];
  for (let time = 0; time < 3; time += 1)
    codes.push((await latchkey.verifyKey({ key: limited })).code);
  expect(codes).toEqual(["VALID", "VALID", "RATE_LIMITED"]);
  const once = [];
  for (let time = 0; time < 2; time += 1)
    once.push((await latchkey.verifyKey({ key: filled.limitedToo })).code);
  expect(once).toEqual(["VALID", "RATE_LIMITED"]);
  const { plaintext } = await latchkey.getKey({ keyId: filled.recoverableId, decrypt: true });
  expect(plaintext).toBe(filled.recoverable);
  const mail = { namespace: "mail", identifier: "a@b", limit: 10, duration: 60_000, cost: 0 };
  expect(await latchkey.limit(mail)).toMatchObject({ remaining: 9 });
  const question = { permissions: "tiles.read" };
  const allowed = await latchkey.verifyKey({ key: filled.shared, authorization: question });
  expect(allowed.code).toBe("VALID");
  const root = await latchkey.authenticateRootKey(filled.rootKey);
  expect(root).toMatchObject({ kind: "authenticated" });
  const other = latchkey.workspace("ws_other");
  expect((await other.verifyKey({ key: filled.elsewhere })).code).toBe("VALID");
  expect((await other.verifyKey({ key: filled.elsewhere })).code).toBe("USAGE_EXCEEDED");
}
