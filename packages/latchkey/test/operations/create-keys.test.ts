import { createHash } from "node:crypto";
import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import {
  DAY_MS,
  describeOnEveryStore,
  NOON,
  rejectionOf,
  type TestBed,
  VAULT_KEYS,
} from "../every-store.js";

const digest = (secret: string) => createHash("sha256").update(secret).digest();
const base64 = (secret: string) =>
  ({ value: digest(secret).toString("base64"), variant: "sha256_base64" }) as const;
const hex = (secret: string) =>
  ({ value: digest(secret).toString("hex"), variant: "sha256_hex" }) as const;

/** A secret of another system: 32 hexadecimal digits behind a prefix. */
const foreign = (at: number) => `sk_live_${at.toString(16).padStart(32, "0123456789abcdef")}`;

const pepperOf = (id: string, ...others: string[]) => ({
  current: id,
  keys: Object.fromEntries(
    [id, ...others].map((name) => [name, VAULT_KEYS[name === "p1" ? 0 : 1]]),
  ),
});

async function openApi({ latchkey }: TestBed) {
  return (await latchkey.createApi({ name: "tide tables" })).apiId;
}

/** Everything that would show that something was written. */
async function written({ latchkey, store }: TestBed, apiId: string) {
  const page = { beforeId: null, limit: 100 };
  const log = await store.listChanges("ws_default", { kind: "all" }, page);
  return [
    (await latchkey.listKeys({ apiId })).total,
    (await latchkey.listIdentities()).total,
    log.items.length,
  ];
}

describeOnEveryStore("createKeys", (open) => {
  test("answers the ids in the order given, and each secret verifies from then on", async () => {
    const bed = open();
    const { latchkey } = bed;
    const [one, two] = [await openApi(bed), await openApi(bed)];
    const { keyIds } = await latchkey.createKeys([
      { apiId: one, hash: base64(foreign(1)) },
      { apiId: two, hash: hex(foreign(2)) },
      { apiId: one, plaintext: foreign(3) },
    ]);
    expect(keyIds).toHaveLength(3);
    const apis = [one, two, one];
    for (const at of [0, 1, 2])
      expect(await latchkey.verifyKey({ key: foreign(at + 1) })).toMatchObject({
        code: "VALID",
        keyId: keyIds[at],
        apiId: apis[at],
      });
    expect((await latchkey.listKeys({ apiId: one })).keys.map(({ id }) => id)).toEqual([
      keyIds[0],
      keyIds[2],
    ]);
  });

  test("a hash verifies with a pepper and without; a plaintext under the pepper of its time, and of later rings that keep it", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    const peppered = bed.another({ pepper: pepperOf("p1") });
    await peppered.createKeys([
      { apiId, hash: base64(foreign(1)) },
      { apiId, hash: hex(foreign(2)) },
      { apiId, plaintext: foreign(3) },
    ]);
    const rotated = bed.another({ pepper: pepperOf("p2", "p1") });
    for (const latchkey of [peppered, rotated])
      for (const at of [1, 2, 3])
        expect((await latchkey.verifyKey({ key: foreign(at) })).code).toBe("VALID");
    const codes = [];
    for (const at of [1, 2, 3])
      codes.push((await bed.latchkey.verifyKey({ key: foreign(at) })).code);
    expect(codes).toEqual(["VALID", "VALID", "NOT_FOUND"]);
  });

  test("stores every field that it was given", async () => {
    const bed = open({ vault: { current: "v", keys: { v: VAULT_KEYS[0] } } });
    const { latchkey } = bed;
    const apiId = await openApi(bed);
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createRole({ name: "harbour" });
    const { keyIds } = await latchkey.createKeys([
      {
        apiId,
        plaintext: foreign(1),
        start: "sk_live_",
        name: "north pier",
        externalId: "pier-7",
        meta: { berth: 4 },
        roles: ["harbour"],
        permissions: ["tides.read"],
        expires: NOON + DAY_MS,
        remaining: 0,
        refill: { interval: "daily", amount: 5 },
        ratelimit: { limit: 10, duration: 60_000 },
        ratelimits: [{ name: "tiles", limit: 3, duration: 1_000, autoApply: true }],
        enabled: false,
        recoverable: true,
        environment: "live",
      },
    ]);
    const listed = await latchkey.getKey({ keyId: keyIds[0] as string, decrypt: true });
    expect(listed).toMatchObject({
      start: "sk_live_",
      name: "north pier",
      ownerId: "pier-7",
      meta: { berth: 4 },
      roles: ["harbour"],
      permissions: ["tides.read"],
      expires: NOON + DAY_MS,
      remaining: 0,
      refill: { interval: "daily", amount: 5, lastRefillAt: NOON },
      ratelimit: { limit: 10, duration: 60_000 },
      enabled: false,
      environment: "live",
      plaintext: foreign(1),
      createdAt: NOON,
    });
    expect(listed.ratelimits?.map(({ name }) => name)).toEqual(["default", "tiles"]);
  });

  test("a key that was used up is taken over as such", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    await bed.latchkey.createKeys([{ apiId, hash: hex(foreign(1)), remaining: 0 }]);
    expect((await bed.latchkey.verifyKey({ key: foreign(1) })).code).toBe("USAGE_EXCEEDED");
  });

  test("keys of one externalId get one identity, made on the way, and an existing one is taken", async () => {
    const bed = open();
    const { latchkey } = bed;
    const apiId = await openApi(bed);
    const { identityId } = await latchkey.createIdentity({ externalId: "old", remaining: 2 });
    await latchkey.createKeys([
      { apiId, hash: hex(foreign(1)), externalId: "new" },
      { apiId, hash: hex(foreign(2)), externalId: "new" },
      { apiId, hash: hex(foreign(3)), externalId: "old", usesFrom: "identity" },
    ]);
    expect((await latchkey.listIdentities()).total).toBe(2);
    expect((await latchkey.listKeys({ apiId, externalId: "new" })).keys).toHaveLength(2);
    expect(await latchkey.verifyKey({ key: foreign(3) })).toMatchObject({
      identity: { id: identityId },
      remaining: 1,
    });
  });

  test("shows of a secret what was given, else what is no harm, and of a mere hash nothing", async () => {
    const bed = open();
    const { latchkey } = bed;
    const apiId = await openApi(bed);
    const own = (await bed.another({ maxCachedKeys: 0 }).createKey({ apiId, prefix: "pay" })).key;
    await latchkey.deleteKeys({ apiId });
    const { keyIds } = await latchkey.createKeys([
      { apiId, plaintext: foreign(1) },
      { apiId, plaintext: foreign(2), start: "sk_" },
      { apiId, plaintext: "hunter2" },
      { apiId, plaintext: own },
      { apiId, hash: hex(foreign(3)) },
      { apiId, hash: hex(foreign(4)), start: "sk_live_0123" },
      { apiId, hash: hex(foreign(5)), prefix: "sk_live" },
    ]);
    const starts = [];
    for (const keyId of keyIds) starts.push((await latchkey.getKey({ keyId })).start);
    expect(starts).toEqual([
      foreign(1).slice(0, 12),
      "sk_",
      "",
      expect.stringMatching(/^pay_Z..$/),
      "",
      "sk_live_0123",
      "sk_live_",
    ]);
  });

  test("an imported key can be rotated: the new secret has its prefix, and latchkey's form", async () => {
    const bed = open();
    const { latchkey } = bed;
    const apiId = await openApi(bed);
    const { keyIds } = await latchkey.createKeys([
      { apiId, hash: hex(foreign(1)), start: "sk_live_0123" },
      { apiId, hash: hex(foreign(2)) },
    ]);
    const [prefixed, bare] = await Promise.all(
      keyIds.map((keyId) => latchkey.rotateKey({ keyId })),
    );
    expect(prefixed?.key).toMatch(/^sk_live_Z[1-9A-HJ-NP-Za-km-z]+$/);
    expect(bare?.key).toMatch(/^Z[1-9A-HJ-NP-Za-km-z]+$/);
    expect((await latchkey.verifyKey({ key: bare?.key as string })).code).toBe("VALID");
    expect((await latchkey.verifyKey({ key: foreign(1) })).code).toBe("EXPIRED");
  });

  test("a secret that is known is a conflict, and nothing of the list is written", async () => {
    const bed = open();
    const { latchkey } = bed;
    const apiId = await openApi(bed);
    const issued = await latchkey.createKey({ apiId });
    await latchkey.createKeys([{ apiId, hash: hex(foreign(1)) }]);
    const before = await written(bed, apiId);
    const fresh = { apiId, hash: hex(foreign(9)), externalId: "new" };
    for (const [known, field] of [
      [{ apiId, hash: base64(foreign(1)) }, "hash"],
      [{ apiId, plaintext: foreign(1) }, "plaintext"],
      [{ apiId, plaintext: issued.key }, "plaintext"],
      [{ apiId, hash: base64(foreign(9)) }, "hash"],
      [{ apiId, plaintext: foreign(9) }, "plaintext"],
    ] as const) {
      const error = await rejectionOf(latchkey.createKeys([fresh, known]));
      expect(error).toMatchObject({ code: "CONFLICT" });
      expect(error.message).toContain(`"1.${field}"`);
      expect(await written(bed, apiId)).toEqual(before);
    }
  });

  test("a plaintext that is known under an earlier pepper or without one is a conflict too", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    await bed.latchkey.createKeys([{ apiId, hash: hex(foreign(1)) }]);
    await bed.another({ pepper: pepperOf("p1") }).createKeys([{ apiId, plaintext: foreign(2) }]);
    const before = await written(bed, apiId);
    const later = bed.another({ pepper: pepperOf("p2", "p1") });
    for (const at of [1, 2]) {
      const call = later.createKeys([{ apiId, plaintext: foreign(at) }]);
      expect(await rejectionOf(call)).toMatchObject({ code: "CONFLICT" });
    }
    const both = later.createKeys([
      { apiId, plaintext: foreign(5) },
      { apiId, hash: hex(foreign(5)) },
    ]);
    expect((await rejectionOf(both)).message).toContain('"0.plaintext"');
    expect(await written(bed, apiId)).toEqual(before);
  });

  test("a deleted key's secret is free again, and another workspace's is no matter", async () => {
    const bed = open();
    const { latchkey } = bed;
    const apiId = await openApi(bed);
    const list = [{ apiId, hash: hex(foreign(1)) }];
    const { keyIds } = await latchkey.createKeys(list);
    await latchkey.deleteKey({ keyId: keyIds[0] as string });
    expect((await latchkey.createKeys(list)).keyIds).toHaveLength(1);
    const elsewhere = latchkey.workspace("ws_other");
    const { apiId: other } = await elsewhere.createApi({ name: "tide tables" });
    await elsewhere.createKeys([{ apiId: other, hash: hex(foreign(1)) }]);
    expect((await elsewhere.verifyKey({ key: foreign(1) })).code).toBe("VALID");
  });

  test("of racers with one list one writes it, and the others write nothing", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    const list = Array.from({ length: 10 }, (_, at) => ({ apiId, hash: hex(foreign(at)) }));
    const other = bed.another();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => (at % 2 ? bed.latchkey : other).createKeys(list)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
    expect((await bed.latchkey.listKeys({ apiId })).total).toBe(10);
  });

  test("an unknown API is named by place, one of another workspace alike, and nothing is written", async () => {
    const bed = open();
    const { latchkey } = bed;
    const apiId = await openApi(bed);
    const { apiId: other } = await latchkey
      .workspace("ws_other")
      .createApi({ name: "tide tables" });
    const before = await written(bed, apiId);
    for (const unknown of ["api_unknown", other]) {
      const call = latchkey.createKeys([
        { apiId, hash: hex(foreign(1)), externalId: "new" },
        { apiId: unknown, hash: hex(foreign(2)) },
      ]);
      expect(await rejectionOf(call)).toMatchObject({
        code: "NOT_FOUND",
        message: 'no such API: "1.apiId"',
      });
    }
    expect(await written(bed, apiId)).toEqual(before);
  });

  test("every role and permission that is missing is named, of all keys, and nothing is written", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    const before = await written(bed, apiId);
    const error = await rejectionOf(
      bed.latchkey.createKeys([
        { apiId, hash: hex(foreign(1)), roles: ["pilot"], externalId: "new" },
        { apiId, hash: hex(foreign(2)), roles: ["diver"], permissions: ["tides.read"] },
      ]),
    );
    expect(error.code).toBe("PRECONDITION_FAILED");
    for (const name of ["pilot", "diver", "tides.read"]) expect(error.message).toContain(name);
    expect(await written(bed, apiId)).toEqual(before);
  });

  test("recoverable needs a vault, and then nothing is written", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    const call = bed.latchkey.createKeys([
      { apiId, hash: hex(foreign(1)) },
      { apiId, plaintext: foreign(2), recoverable: true },
    ]);
    expect(await rejectionOf(call)).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect((await bed.latchkey.listKeys({ apiId })).total).toBe(0);
  });

  test("everything wrong with a list is said at once, by place, and never in words of the list", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    const { key } = await bed.latchkey.createKey({ apiId });
    const damaged = `${key.slice(0, -1)}${key.endsWith("2") ? "3" : "2"}`;
    const secret = foreign(7);
    const error = await rejectionOf(
      bed.latchkey.createKeys([
        { apiId },
        { apiId, hash: hex(secret), plaintext: secret },
        { apiId, hash: { value: digest(secret).toString("base64url"), variant: "sha256_base64" } },
        { apiId, hash: { value: secret, variant: "sha256_hex" } },
        { apiId, hash: { value: secret, variant: "md5" } },
        { apiId, plaintext: damaged },
        { apiId, plaintext: "caf\u00e9" },
        { apiId, plaintext: "" },
        { apiId, plaintext: "x".repeat(513) },
        { apiId, plaintext: secret, start: secret.slice(0, 13) },
        { apiId, plaintext: secret, start: "other" },
        { apiId, hash: hex("short secret"), start: "short secret" },
        { apiId, hash: hex(secret), start: "s".repeat(33) },
        { apiId, hash: hex(secret), recoverable: true },
        { apiId, hash: hex(secret), prefix: "x_", byteLength: 16, expires: NOON },
        { apiId, hash: hex(secret), remaining: -1, refill: { interval: "daily", amount: 1 } },
        null,
      ] as never),
    );
    expect(error.code).toBe("BAD_REQUEST");
    expect((error.issues as { path: string }[]).map(({ path }) => path)).toEqual([
      "0.hash",
      "1.plaintext",
      "2.hash.value",
      "3.hash.value",
      "4.hash.variant",
      "5.plaintext",
      "6.plaintext",
      "7.plaintext",
      "8.plaintext",
      "9.start",
      "10.start",
      "11.start",
      "12.start",
      "13.recoverable",
      "14.prefix",
      "14.byteLength",
      "15.remaining",
      "16",
      "14.expires",
    ]);
    const told = JSON.stringify([error.message, error.issues]);
    for (const given of [secret, damaged, digest(secret).toString("base64url")])
      expect(told).not.toContain(given);
    expect((await bed.latchkey.listKeys({ apiId })).total).toBe(1);
  });

  test.each([
    ["no list", { 0: { apiId: "a" } }],
    ["nothing", undefined],
    ["an empty list", []],
    ["101 keys", Array.from({ length: 101 }, (_, at) => ({ apiId: "a", hash: hex(foreign(at)) }))],
  ])("%s is refused as a whole", async (_, list) => {
    const bed = open();
    const error = await rejectionOf(bed.latchkey.createKeys(list as never));
    expect(error.issues).toEqual([
      { path: "", message: list === undefined ? "is required" : "must be a list of 1 to 100 keys" },
    ]);
  });

  test("100 keys are taken, with the order of their ids that of the list", async () => {
    const bed = open();
    const apiId = await openApi(bed);
    const list = Array.from({ length: 100 }, (_, at) => ({ apiId, hash: hex(foreign(at)) }));
    const { keyIds } = await bed.latchkey.createKeys(list);
    expect([...keyIds].sort()).toEqual(keyIds);
    expect((await bed.latchkey.listKeys({ apiId, limit: 100 })).keys.map(({ id }) => id)).toEqual(
      keyIds,
    );
  });

  test("tells of every key and of what was made for it, and no secret or hash", async () => {
    const events: LatchkeyEvent[] = [];
    const bed = open({ onEvent: (event) => events.push(event) });
    const apiId = await openApi(bed);
    events.length = 0;
    const { keyIds } = await bed.latchkey.createKeys([
      { apiId, plaintext: foreign(1), externalId: "new", name: "one" },
      { apiId, hash: base64(foreign(2)), externalId: "new" },
    ]);
    expect(events).toMatchObject([
      { type: "identity.created", changes: [{ field: "externalId", after: "new" }] },
      { type: "key.created", keyId: keyIds[0] },
      { type: "key.created", keyId: keyIds[1] },
    ]);
    const page = { beforeId: null, limit: 10 };
    const { items } = await bed.store.listChanges("ws_default", { kind: "all" }, page);
    expect(items.map(({ type }) => type)).toEqual([
      "key.created",
      "key.created",
      "identity.created",
      "api.created",
    ]);
    const { id } = await bed.latchkey.getIdentity({ externalId: "new" });
    expect(items.slice(0, 3).map(({ identityId }) => identityId)).toEqual([id, id, id]);
    const told = JSON.stringify([events, items]);
    for (const text of [
      foreign(1),
      digest(foreign(1)).toString("base64url"),
      base64(foreign(2)).value,
    ])
      expect(told).not.toContain(text);
  });
});
