import { expect } from "vitest";
import { foreign, hex } from "../imports.js";
import { DAY_MS, expectRefused, HOUR_MS, type TestContext, VAULT_KEYS } from "../test-context.js";
import type { Journey } from "./journey.js";

/** Metadata that a store must return unchanged. */
const META = {
  berth: 4,
  empty: { list: [], object: {}, text: "" },
  numbers: [0, -1, 0.1, 1e-7, 1e21, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  text: 'é \u{1f511} \u0000 \u2028 "quoted" {tag} *',
  nothing: null,
};

const unknown = { keyId: "key_unknown" };

/** createKey, createKeys, getKey, listKeys, whoami, updateKey, updateRemaining, rotateKey, reencryptKeys, deleteKey, deleteKeys, disableKeys, enableKeys, updateKeys. */
export const KEYS: Journey = {
  resource: "keys",
  title:
    "are issued, imported, listed, changed, rotated, sealed anew and deleted, for every process at once",
  async run(context) {
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    await issueAndImport(context, apiId);
    const { keyId, key } = await change(context, apiId);
    await rotateAndSealAnew(context, apiId, keyId, key);
    await deleteAll(context, apiId);
  },
};

async function issueAndImport(context: TestContext, apiId: string) {
  const { latchkey } = context;
  const other = context.another();
  const settings = {
    name: "north pier",
    externalId: "pier-7",
    meta: META,
    expires: context.now() + DAY_MS,
    remaining: 12,
    refill: { interval: "monthly", amount: 50, refillDay: 31 },
    ratelimit: { limit: 10, duration: HOUR_MS },
    environment: "live",
  } as const;
  const { keyId, key } = await latchkey.createKey({ apiId, ...settings, recoverable: true });
  expect(await other.getKey({ keyId, decrypt: true })).toMatchObject({
    id: keyId,
    name: "north pier",
    meta: META,
    expires: settings.expires,
    remaining: 12,
    refill: settings.refill,
    ratelimit: settings.ratelimit,
    environment: "live",
    enabled: true,
    plaintext: key,
  });
  expect(await other.whoami({ key })).toMatchObject({ id: keyId, name: "north pier" });
  await expectRefused("NOT_FOUND", [other.whoami({ key: "no such key" })]);

  const imported = await latchkey.createKeys([
    { apiId, hash: hex(foreign(1)), externalId: "pier-7" },
    { apiId, plaintext: foreign(2) },
  ]);
  for (const [at, id] of imported.keyIds.entries())
    expect(await other.verifyKey({ key: foreign(at + 1) })).toMatchObject({ keyId: id });
  const twice = other.createKeys([
    { apiId, plaintext: foreign(3) },
    { apiId, hash: hex(foreign(1)) },
  ]);
  await expectRefused("CONFLICT", [twice]);
  await expectRefused("PRECONDITION_FAILED", [other.createKey({ apiId, roles: ["nobody"] })]);

  const first = await other.listKeys({ apiId, limit: 2 });
  expect(first).toMatchObject({ keys: [{ id: keyId }, { id: imported.keyIds[0] }], total: 3 });
  const second = await latchkey.listKeys({ apiId, limit: 2, cursor: first.cursor as string });
  expect(second).toMatchObject({ keys: [{ id: imported.keyIds[1] }], total: 3 });
  expect((await latchkey.listKeys({ apiId, externalId: "pier-7" })).keys).toHaveLength(2);
  await expectRefused("NOT_FOUND", [latchkey.listKeys({ apiId: "api_unknown" })]);
}

async function change(context: TestContext, apiId: string) {
  const { latchkey } = context;
  const other = context.another();
  const issued = await latchkey.createKey({ apiId, remaining: 5, recoverable: true });
  const { keyId, key } = issued;
  expect(await other.verifyKey({ key })).toMatchObject({ remaining: 4 });
  await Promise.all([
    latchkey.updateKey({ keyId, name: "south pier" }),
    other.updateKey({ keyId, meta: { berth: 5 } }),
    latchkey.updateKey({ keyId, externalId: "pier-8" }),
  ]);
  expect(await other.getKey({ keyId })).toMatchObject({
    name: "south pier",
    meta: { berth: 5 },
    ownerId: "pier-8",
    remaining: 4,
  });
  await latchkey.updateKey({ keyId, enabled: false });
  expect(await other.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
  await other.updateKey({ keyId, enabled: true, name: null });
  expect(await latchkey.getKey({ keyId })).not.toHaveProperty("name");

  await Promise.all(
    [1, 2, 3, 4].map((value) => {
      const op = value % 2 === 0 ? "increment" : "decrement";
      return (value < 3 ? latchkey : other).updateRemaining({ keyId, op, value });
    }),
  );
  expect(await other.getKey({ keyId })).toMatchObject({ remaining: 6 });
  const tooMany = latchkey.updateRemaining({ keyId, op: "decrement", value: 7 });
  await expectRefused("PRECONDITION_FAILED", [tooMany]);
  expect(await other.updateRemaining({ keyId, op: "set", value: null })).toEqual({});
  const name = "nobody's";
  await expectRefused("NOT_FOUND", [latchkey.updateKey({ ...unknown, name })]);
  return issued;
}

async function rotateAndSealAnew(context: TestContext, apiId: string, keyId: string, key: string) {
  const { latchkey } = context;
  const other = context.another();
  const racers = [latchkey, other, latchkey, other].map((one) =>
    one.rotateKey({ keyId, graceMs: HOUR_MS }),
  );
  const outcomes = await Promise.allSettled(racers);
  const made = outcomes.flatMap((outcome) =>
    outcome.status === "fulfilled" ? [outcome.value] : [],
  );
  expect(made).toHaveLength(1);
  const successor = made[0] ?? { key: "", keyId: "" };
  await expectRefused("CONFLICT", [other.rotateKey({ keyId })]);
  expect(await other.getKey({ keyId })).toMatchObject({ rotatedTo: successor.keyId });
  expect(await other.verifyKey({ key: successor.key })).toMatchObject({ valid: true });
  expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
  context.advance(HOUR_MS);
  expect(await other.verifyKey({ key })).toMatchObject({ code: "EXPIRED" });

  const ring = { current: "b", keys: { a: VAULT_KEYS[0], b: VAULT_KEYS[1] } };
  const sealing = context.another({ vault: ring });
  expect(await sealing.reencryptKeys({ apiId })).toEqual({ reencrypted: 3 });
  expect(await sealing.reencryptKeys({ apiId })).toEqual({ reencrypted: 0 });
  const later = context.another({ vault: { current: "b", keys: { b: VAULT_KEYS[1] } } });
  expect(await later.getKey({ keyId: successor.keyId, decrypt: true })).toMatchObject({
    plaintext: successor.key,
  });
  await expectRefused("NOT_FOUND", [sealing.reencryptKeys({ apiId: "api_unknown" })]);
}

async function deleteAll(context: TestContext, apiId: string) {
  const { latchkey } = context;
  const other = context.another();
  const { keyId, key } = await latchkey.createKey({ apiId });
  expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
  const outcomes = await Promise.allSettled(
    [latchkey, other, latchkey].map((one) => one.deleteKey({ keyId })),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await other.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
  await expectRefused("NOT_FOUND", [
    other.deleteKey({ keyId }),
    other.getKey({ keyId }),
    other.updateRemaining({ keyId, op: "set", value: 1 }),
    other.rotateKey({ keyId }),
    latchkey.deleteKeys({ apiId: "api_unknown" }),
    latchkey.disableKeys({ apiId: "api_unknown" }),
    latchkey.enableKeys({ apiId: "api_unknown" }),
    latchkey.updateKeys({ keyIds: [keyId], name: "gone" }),
  ]);

  const { found } = await context.store.read("ws_default", [{ kind: "key", id: keyId }]);
  expect(found).toEqual([null]);
  const { total } = await other.listKeys({ apiId });
  expect(total).toBeGreaterThan(0);
  const off = await latchkey.createKey({ apiId, externalId: "pier-9", enabled: false });
  const on = await latchkey.createKey({ apiId, externalId: "pier-9" });
  const both = { apiId, externalId: "pier-9" };
  expect(await latchkey.disableKeys(both)).toEqual({ disabledKeys: 1 });
  expect((await other.verifyKey({ key: on.key })).code).toBe("DISABLED");
  expect(await latchkey.enableKeys(both)).toEqual({ enabledKeys: 2 });
  expect((await other.verifyKey({ key: off.key })).code).toBe("VALID");
  const keyIds = [off.keyId, on.keyId];
  expect(await latchkey.updateKeys({ keyIds, name: "both" })).toEqual({});
  expect(await latchkey.deleteKeys({ keyIds: [...keyIds, keyId] })).toEqual({ deletedKeys: 2 });
  expect(await latchkey.deleteKeys({ apiId })).toMatchObject({ deletedKeys: total });
  expect(await other.listKeys({ apiId })).toEqual({ keys: [], total: 0 });
  expect(await other.verifyKey({ key: foreign(1) })).toMatchObject({ code: "NOT_FOUND" });
}
