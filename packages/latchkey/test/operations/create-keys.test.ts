import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { base64, base64url, digest, foreign, hex, openApi, pepperOf } from "../imports.js";
import { DAY_MS, describeOnMemory, NOON, VAULT_KEYS } from "../test-context.js";

describeOnMemory("createKeys", (open) => {
  test("returns the ids in the given order, and each secret verifies from then on", async () => {
    const context = open();
    const { latchkey } = context;
    const [one, two] = [await openApi(context), await openApi(context)];
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

  test("a hash verifies with and without a pepper; a plaintext under its own pepper, and under later rings that keep it", async () => {
    const context = open();
    const apiId = await openApi(context);
    const peppered = context.another({ pepper: pepperOf("p1") });
    await peppered.createKeys([
      { apiId, hash: base64(foreign(1)) },
      { apiId, hash: hex(foreign(2)) },
      { apiId, plaintext: foreign(3) },
    ]);
    const rotated = context.another({ pepper: pepperOf("p2", "p1") });
    for (const latchkey of [peppered, rotated])
      for (const at of [1, 2, 3])
        expect((await latchkey.verifyKey({ key: foreign(at) })).code).toBe("VALID");
    const codes = [];
    for (const at of [1, 2, 3])
      codes.push((await context.latchkey.verifyKey({ key: foreign(at) })).code);
    expect(codes).toEqual(["VALID", "VALID", "NOT_FOUND"]);
  });

  test("stores every given field", async () => {
    const context = open({ vault: { current: "v", keys: { v: VAULT_KEYS[0] } } });
    const { latchkey } = context;
    const apiId = await openApi(context);
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
      refill: { interval: "daily", amount: 5 },
      ratelimit: { limit: 10, duration: 60_000 },
      enabled: false,
      environment: "live",
      plaintext: foreign(1),
      createdAt: NOON,
    });
    expect(listed.ratelimits?.map(({ name }) => name)).toEqual(["default", "tiles"]);
  });

  test("a hash may be in base64, in base64url without padding or in hexadecimal", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const hashes = [base64(foreign(1)), base64url(foreign(2)), hex(foreign(3))];
    const { keyIds } = await latchkey.createKeys(hashes.map((hash) => ({ apiId, hash })));
    for (const [at, keyId] of keyIds.entries())
      expect(await latchkey.verifyKey({ key: foreign(at + 1) })).toMatchObject({
        code: "VALID",
        keyId,
      });
  });

  test("a key may keep its creation instant of the other system, even if that is this very instant", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const createdAts = [0, NOON - DAY_MS, NOON];
    const { keyIds } = await latchkey.createKeys(
      createdAts.map((createdAt, at) => ({ apiId, hash: hex(foreign(at)), createdAt })),
    );
    const { keys } = await latchkey.listKeys({ apiId });
    expect(keys.map(({ id, createdAt }) => [id, createdAt])).toEqual(
      keyIds.map((keyId, at) => [keyId, createdAts[at]]),
    );
  });

  test("an expired key is imported as such, and can be revived", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const { keyIds } = await latchkey.createKeys([
      { apiId, hash: hex(foreign(1)), expires: NOON - DAY_MS },
      { apiId, hash: hex(foreign(2)), expires: NOON },
    ]);
    for (const at of [1, 2])
      expect((await latchkey.verifyKey({ key: foreign(at) })).code).toBe("EXPIRED");
    const { keys } = await latchkey.listKeys({ apiId });
    expect(keys.map(({ enabled, expires }) => [enabled, expires])).toEqual([
      [false, NOON - DAY_MS],
      [false, NOON],
    ]);
    await latchkey.updateKey({ keyId: keyIds[0] as string, expires: NOON + DAY_MS });
    expect((await latchkey.verifyKey({ key: foreign(1) })).code).toBe("VALID");
  });

  test("a used-up key is imported as such", async () => {
    const context = open();
    const apiId = await openApi(context);
    await context.latchkey.createKeys([{ apiId, hash: hex(foreign(1)), remaining: 0 }]);
    expect((await context.latchkey.verifyKey({ key: foreign(1) })).code).toBe("USAGE_EXCEEDED");
  });

  test("keys of one externalId get the same identity: the existing one, or a new one", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
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

  test("shows the given start of a secret, otherwise a harmless one, and none for a mere hash", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const own = (await context.another({ maxCachedKeys: 0 }).createKey({ apiId, prefix: "pay" }))
      .key;
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

  test("an imported key can be rotated: the new secret has its prefix and latchkey's format", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
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

  test("the secret of a deleted key can be imported again, and one of another workspace does not conflict", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const list = [{ apiId, hash: hex(foreign(1)) }];
    const { keyIds } = await latchkey.createKeys(list);
    await latchkey.deleteKey({ keyId: keyIds[0] as string });
    expect((await latchkey.createKeys(list)).keyIds).toHaveLength(1);
    const elsewhere = latchkey.workspace("ws_other");
    const { apiId: other } = await elsewhere.createApi({ name: "tide tables" });
    await elsewhere.createKeys([{ apiId: other, hash: hex(foreign(1)) }]);
    expect((await elsewhere.verifyKey({ key: foreign(1) })).code).toBe("VALID");
  });

  test("accepts 100 keys, whose ids have the order of the list", async () => {
    const context = open();
    const apiId = await openApi(context);
    const list = Array.from({ length: 100 }, (_, at) => ({ apiId, hash: hex(foreign(at)) }));
    const { keyIds } = await context.latchkey.createKeys(list);
    expect([...keyIds].sort()).toEqual(keyIds);
    expect(
      (await context.latchkey.listKeys({ apiId, limit: 100 })).keys.map(({ id }) => id),
    ).toEqual(keyIds);
  });

  test("emits and logs every key and everything created for it, and no secret or hash", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ onEvent: (event) => events.push(event) });
    const apiId = await openApi(context);
    events.length = 0;
    const { keyIds } = await context.latchkey.createKeys([
      { apiId, plaintext: foreign(1), externalId: "new", name: "one" },
      { apiId, hash: base64(foreign(2)), externalId: "new" },
    ]);
    expect(events).toMatchObject([
      { type: "identity.created", changes: [{ field: "externalId", after: "new" }] },
      { type: "key.created", keyId: keyIds[0] },
      { type: "key.created", keyId: keyIds[1] },
    ]);
    const { events: entries } = await context.latchkey.listAuditEvents();
    expect(entries.map(({ type }) => type)).toEqual([
      "key.created",
      "key.created",
      "identity.created",
      "api.created",
    ]);
    const { id } = await context.latchkey.getIdentity({ externalId: "new" });
    expect(entries.slice(0, 3).map(({ identityId }) => identityId)).toEqual([id, id, id]);
    const output = JSON.stringify([events, entries]);
    for (const text of [
      foreign(1),
      digest(foreign(1)).toString("base64url"),
      base64(foreign(2)).value,
    ])
      expect(output).not.toContain(text);
  });
});
