import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, VAULT_KEYS } from "../test-context.js";

const YEAR_MS = 365 * DAY_MS;
const vault = { current: "v", keys: { v: VAULT_KEYS[0] } };

describeOnMemory("rotateKey", (open) => {
  test("returns a new key id and a secret that verifies; without a grace, the old one stops at once", async () => {
    const context = open();
    const { latchkey } = context;
    const old = await issue(context);
    expect((await latchkey.verifyKey({ key: old.key })).code).toBe("VALID");
    const next = await latchkey.rotateKey({ keyId: old.keyId });
    expect(Object.keys(next).sort()).toEqual(["key", "keyId"]);
    expect(next.keyId).not.toBe(old.keyId);
    expect((await latchkey.verifyKey({ key: old.key })).code).toBe("EXPIRED");
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({
      code: "VALID",
      keyId: next.keyId,
      apiId: old.apiId,
    });
    expect((await context.another().verifyKey({ key: old.key })).code).toBe("EXPIRED");
  });

  test("the old key works until its grace is over, and stops at that instant", async () => {
    const context = open();
    const { latchkey } = context;
    const old = await issue(context);
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    const codes = async () => [
      (await latchkey.verifyKey({ key: old.key })).code,
      (await latchkey.verifyKey({ key: next.key })).code,
    ];
    expect(await codes()).toEqual(["VALID", "VALID"]);
    context.setClock(NOON + HOUR_MS - 1);
    expect(await codes()).toEqual(["VALID", "VALID"]);
    context.setClock(NOON + HOUR_MS);
    expect(await codes()).toEqual(["EXPIRED", "VALID"]);
  });

  test.each([
    [HOUR_MS - 1, NOON + HOUR_MS - 1],
    [HOUR_MS, NOON + HOUR_MS],
    [HOUR_MS + 1, NOON + HOUR_MS],
  ])(
    "a grace of %d ms does not outlast the expiry of the old key, which the successor keeps",
    async (graceMs, dies) => {
      const context = open();
      const old = await issue(context, { expires: NOON + HOUR_MS });
      const next = await context.latchkey.rotateKey({ keyId: old.keyId, graceMs });
      expect((await context.latchkey.getKey({ keyId: old.keyId })).expires).toBe(dies);
      expect((await context.latchkey.getKey({ keyId: next.keyId })).expires).toBe(NOON + HOUR_MS);
    },
  );

  test("the successor has every setting of the old key, and each names the other", async () => {
    const context = open({ vault });
    const { latchkey } = context;
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "tides.write" });
    await latchkey.createRole({ name: "harbour", permissions: ["tides.write"] });
    const old = await issue(context, {
      prefix: "tide",
      byteLength: 24,
      name: "north pier",
      externalId: "pier-7",
      meta: { berth: 4 },
      roles: ["harbour"],
      permissions: ["tides.read"],
      expires: NOON + YEAR_MS,
      remaining: 12,
      refill: { interval: "monthly", amount: 50, refillDay: 31 },
      ratelimit: { type: "fast", limit: 10, duration: 60_000 },
      ratelimits: [{ name: "tiles", limit: 3, duration: 1_000, autoApply: true }],
      recoverable: true,
      environment: "live",
    });
    const before = await latchkey.getKey({ keyId: old.keyId });
    context.advance(5);
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    const { start, ...after } = await latchkey.getKey({ keyId: next.keyId, decrypt: true });
    const { id: _id, start: _start, createdAt: _createdAt, ...same } = before;
    expect(after).toEqual({
      ...same,
      id: next.keyId,
      createdAt: NOON + 5,
      rotatedFrom: old.keyId,
      plaintext: next.key,
    });
    expect(next.key.startsWith(start)).toBe(true);
    expect(await latchkey.getKey({ keyId: old.keyId })).toEqual({
      ...before,
      expires: NOON + 5 + HOUR_MS,
      updatedAt: NOON + 5,
      rotatedTo: next.keyId,
    });
  });

  test("the new secret has the prefix and the length of the old one", async () => {
    const context = open();
    for (const [prefix, byteLength] of [
      ["tide_live", 16],
      ["", 32],
      ["t", 255],
    ] as const) {
      const old = await issue(context, { prefix, byteLength });
      const { key } = await context.latchkey.rotateKey({ keyId: old.keyId });
      expect(key).not.toBe(old.key);
      const [body, newBody] = [old.key, key].map((secret) =>
        secret.slice(secret.lastIndexOf("_") + 1),
      );
      expect(key.slice(0, -(newBody?.length ?? 0))).toBe(old.key.slice(0, -(body?.length ?? 0)));
      expect(Math.abs((newBody?.length ?? 0) - (body?.length ?? 0))).toBeLessThanOrEqual(1);
    }
  });

  test("both keys draw from the same uses and windows, so a rotation gives no new ones", async () => {
    const context = open();
    const { latchkey } = context;
    const old = await issue(context, {
      remaining: 4,
      ratelimit: { limit: 3, duration: DAY_MS },
    });
    await latchkey.verifyKey({ key: old.key });
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({
      code: "VALID",
      remaining: 2,
      ratelimit: { remaining: 1 },
    });
    expect(await latchkey.verifyKey({ key: old.key })).toMatchObject({
      code: "VALID",
      remaining: 1,
      ratelimit: { remaining: 0 },
    });
    expect((await latchkey.verifyKey({ key: next.key })).code).toBe("RATE_LIMITED");
    context.advance(DAY_MS);
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({
      code: "VALID",
      remaining: 0,
    });
    expect((await latchkey.verifyKey({ key: next.key })).code).toBe("USAGE_EXCEEDED");
    expect((await latchkey.getKey({ keyId: old.keyId })).remaining).toBe(0);
  });

  test("a chain of rotations shares one counter, even after its first keys are deleted", async () => {
    const context = open();
    const { latchkey } = context;
    const first = await issue(context, { remaining: 10 });
    const second = await latchkey.rotateKey({ keyId: first.keyId, graceMs: HOUR_MS });
    const third = await latchkey.rotateKey({ keyId: second.keyId, graceMs: HOUR_MS });
    for (const { key } of [first, second, third]) await latchkey.verifyKey({ key });
    await latchkey.deleteKey({ keyId: first.keyId });
    await latchkey.deleteKey({ keyId: second.keyId });
    expect(await latchkey.verifyKey({ key: third.key })).toMatchObject({ remaining: 6 });
    await latchkey.updateRemaining({ keyId: third.keyId, op: "increment", value: 1 });
    expect((await latchkey.getKey({ keyId: third.keyId })).remaining).toBe(7);
  });

  test("a chain of rotations shares the windows of ad-hoc limits, too", async () => {
    const context = open();
    const { latchkey } = context;
    const first = await issue(context);
    const second = await latchkey.rotateKey({ keyId: first.keyId, graceMs: HOUR_MS });
    const third = await latchkey.rotateKey({ keyId: second.keyId, graceMs: HOUR_MS });
    const left = [];
    for (const { key } of [first, second, third]) {
      const ratelimits = [{ name: "made up", limit: 2, duration: DAY_MS }];
      const verdict = await latchkey.verifyKey({ key, ratelimits });
      left.push([verdict.code, "ratelimit" in verdict && verdict.ratelimit?.remaining]);
    }
    expect(left).toEqual([
      ["VALID", 1],
      ["VALID", 0],
      ["RATE_LIMITED", 0],
    ]);
  });

  test("the successor has no updatedAt, even if the old key has one", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await issue(context);
    await latchkey.updateKey({ keyId, name: "north pier" });
    context.advance(1);
    const next = await latchkey.rotateKey({ keyId });
    const shown = await latchkey.getKey({ keyId: next.keyId });
    expect([shown.name, shown.createdAt, shown.updatedAt]).toEqual([
      "north pier",
      NOON + 1,
      undefined,
    ]);
  });

  test("exactly the remaining uses are admitted over both keys, however many calls race", async () => {
    const context = open();
    const { latchkey } = context;
    const old = await issue(context, { remaining: 25 });
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    const other = context.another();
    const verdicts = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        (at % 3 === 0 ? other : latchkey).verifyKey({ key: at % 2 === 0 ? old.key : next.key }),
      ),
    );
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(25);
  });

  test("each key has its own grants from then on", async () => {
    const context = open();
    const { latchkey } = context;
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "tides.write" });
    const { keyId } = await issue(context, { permissions: ["tides.read"] });
    const next = await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    await latchkey.updateKey({ keyId: next.keyId, permissions: ["tides.write"] });
    expect((await latchkey.getKey({ keyId })).permissions).toEqual(["tides.read"]);
    expect((await latchkey.getKey({ keyId: next.keyId })).permissions).toEqual(["tides.write"]);
  });

  test("the successor of a disabled key is disabled, and that of a key without uses has none", async () => {
    const context = open();
    const { latchkey } = context;
    const off = await issue(context, { enabled: false });
    const stillOff = await latchkey.rotateKey({ keyId: off.keyId });
    expect((await latchkey.verifyKey({ key: stillOff.key })).code).toBe("DISABLED");
    await latchkey.updateKey({ keyId: stillOff.keyId, enabled: true });
    expect((await latchkey.verifyKey({ key: stillOff.key })).code).toBe("VALID");

    const spent = await issue(context, { remaining: 1 });
    await latchkey.verifyKey({ key: spent.key });
    const stillSpent = await latchkey.rotateKey({ keyId: spent.keyId });
    expect((await latchkey.verifyKey({ key: stillSpent.key })).code).toBe("USAGE_EXCEEDED");
  });

  test("emits and logs the changes of both keys, and no secret", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ vault, onEvent: (event) => events.push(event) });
    const { latchkey } = context;
    const old = await issue(context, {
      externalId: "pier-7",
      expires: NOON + DAY_MS,
      recoverable: true,
    });
    const { identity } = await latchkey.getKey({ keyId: old.keyId });
    events.length = 0;
    const next = await latchkey.actingAs("ops").rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    expect(events).toMatchObject([
      {
        type: "key.rotated",
        actor: "ops",
        at: NOON,
        resourceId: old.keyId,
        keyId: old.keyId,
        identityId: identity?.id,
        changes: [
          { field: "rotatedTo", after: next.keyId },
          { field: "expires", before: NOON + DAY_MS, after: NOON + HOUR_MS },
        ],
      },
      { type: "key.created", resourceId: next.keyId, keyId: next.keyId, identityId: identity?.id },
    ]);
    const { events: entries } = await latchkey.listAuditEvents({ actor: "ops" });
    expect(entries.map(({ type }) => type)).toEqual(["key.created", "key.rotated"]);
    const output = JSON.stringify([events, entries]);
    for (const secret of [old.key, next.key]) expect(output).not.toContain(secret);
  });
});
