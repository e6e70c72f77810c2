import { expect, test } from "vitest";
import { MIDNIGHT, team } from "../team.js";
import { DAY_MS, describeOnMemory, HOUR_MS, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("setting shared uses", (open) => {
  test("updateIdentity sets, clears and keeps them; null removes the refill, too", async () => {
    const context = open();
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 3 } as const;
    const { identityId, one } = await team(context, { remaining: 5, refill });
    await latchkey.verifyKey({ key: one.key });
    const untouched = await latchkey.updateIdentity({ identityId, meta: { berth: 4 } });
    expect(untouched).toMatchObject({ remaining: 4, refill });
    expect(await latchkey.updateIdentity({ identityId, remaining: 0 })).toMatchObject({
      remaining: 0,
    });
    expect((await latchkey.verifyKey({ key: one.key })).code).toBe("USAGE_EXCEEDED");
    const unlimited = await latchkey.updateIdentity({ identityId, remaining: null });
    expect("remaining" in unlimited || "refill" in unlimited).toBe(false);
    expect(await latchkey.getIdentity({ identityId })).toEqual(unlimited);
    const error = await rejectionOf(latchkey.updateIdentity({ identityId, refill }));
    expect(error.issues).toEqual([{ path: "refill", message: "needs remaining" }]);
    const again = await latchkey.updateIdentity({ identityId, remaining: 2, refill });
    expect(again).toMatchObject({ remaining: 2, refill });
    expect("refill" in (await latchkey.updateIdentity({ identityId, refill: null }))).toBe(false);
  });

  test("a refill added later starts from then, without earlier due ones", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId } = await team(context, { remaining: 1 });
    context.setClock(MIDNIGHT + HOUR_MS);
    const refill = { interval: "daily", amount: 50 } as const;
    expect((await latchkey.updateIdentity({ identityId, refill })).remaining).toBe(1);
    context.setClock(MIDNIGHT + DAY_MS);
    expect((await latchkey.getIdentity({ identityId })).remaining).toBe(50);
  });

  test("a refill that was due before its amount changed is applied with the old amount", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId } = await team(context, {
      remaining: 1,
      refill: { interval: "daily", amount: 10 },
    });
    context.setClock(MIDNIGHT);
    const refill = { interval: "daily", amount: 50 } as const;
    expect((await latchkey.updateIdentity({ identityId, refill })).remaining).toBe(10);
  });

  test("createIdentity accepts 1 and more, a refill needs remaining, and both are reported together with other issues", async () => {
    const { latchkey } = open();
    const refill = { interval: "daily", amount: 1 } as const;
    for (const remaining of [0, -1, 1.5, null, "1"]) {
      const call = latchkey.createIdentity({ externalId: "x", remaining } as never);
      expect((await rejectionOf(call)).issues).toEqual([
        { path: "remaining", message: "must be a whole number >= 1" },
      ]);
    }
    const error = await rejectionOf(latchkey.createIdentity({ externalId: "", refill }));
    expect(error.issues).toEqual([
      { path: "externalId", message: "must be a string of 1 to 255 characters" },
      { path: "refill", message: "needs remaining" },
    ]);
    expect((await latchkey.listIdentities()).total).toBe(0);
    await latchkey.createIdentity({ externalId: "x", remaining: 1, refill });
  });

  test("updateIdentity accepts 0 and more, or null", async () => {
    const context = open();
    const { identityId } = await team(context);
    for (const remaining of [-1, 1.5, "1"]) {
      const call = context.latchkey.updateIdentity({ identityId, remaining } as never);
      expect((await rejectionOf(call)).issues).toEqual([
        { path: "remaining", message: "must be a whole number >= 0" },
      ]);
    }
  });

  test("a key that draws from its identity has no own uses to set: 412, nothing changed", async () => {
    const context = open();
    const { latchkey } = context;
    const { one } = await team(context);
    const { keyId } = one;
    const refill = { interval: "daily", amount: 1 } as const;
    for (const call of [
      () => latchkey.updateRemaining({ keyId, op: "set", value: 9 }),
      () => latchkey.updateRemaining({ keyId, op: "increment", value: 9 }),
      () => latchkey.updateRemaining({ keyId, op: "decrement", value: 1 }),
      () => latchkey.updateKey({ keyId, remaining: 9 }),
      () => latchkey.updateKey({ keyId, remaining: null }),
      () => latchkey.updateKey({ keyId, refill }),
      () => latchkey.updateKey({ keyId, refill: null, name: "x" }),
    ])
      expect(await rejectionOf(call())).toMatchObject({ code: "PRECONDITION_FAILED" });
    const listed = await latchkey.getKey({ keyId });
    expect(listed.remaining).toBe(5);
    expect("name" in listed || "updatedAt" in listed).toBe(false);
  });

  test("a key cannot draw from an identity that it does not have, nor lose the one that it draws from", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, one } = await team(context);
    const alone = await latchkey.createKey({ apiId });
    for (const call of [
      () => latchkey.updateKey({ keyId: alone.keyId, usesFrom: "identity" }),
      () => latchkey.updateKey({ keyId: one.keyId, externalId: null }),
      () => latchkey.updateKey({ keyId: one.keyId, ownerId: null }),
      () => latchkey.updateKey({ keyId: one.keyId, usesFrom: "identity", externalId: null }),
    ])
      expect((await rejectionOf(call())).issues).toEqual([
        { path: "usesFrom", message: 'needs an identity if it is "identity": set externalId' },
      ]);
    await latchkey.updateKey({ keyId: alone.keyId, usesFrom: "identity", externalId: "team" });
    await latchkey.updateKey({ keyId: one.keyId, usesFrom: "key", externalId: null });
    expect(await latchkey.verifyKey({ key: alone.key })).toMatchObject({ remaining: 4 });
    expect("remaining" in (await latchkey.verifyKey({ key: one.key }))).toBe(false);
  });

  test("updateRemaining accepts exactly one of keyId, identityId and externalId, and reports it together with other issues", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId, one } = await team(context);
    const { keyId } = one;
    const externalId = "team";
    const all = [{}, { keyId, identityId }, { keyId, externalId }, { identityId, externalId }];
    for (const ids of [...all, { keyId, identityId, externalId }]) {
      const call = latchkey.updateRemaining({ ...ids, op: "increment", value: 0 });
      const { issues, message } = await rejectionOf(call);
      expect(message).toBe(
        'exactly one of keyId, identityId and externalId must be given; "value" must be a whole number >= 1',
      );
      expect(issues).toEqual([
        { path: "keyId", message: "exactly one of keyId, identityId and externalId must be given" },
        { path: "value", message: "must be a whole number >= 1" },
      ]);
    }
    expect((await latchkey.getIdentity({ identityId })).remaining).toBe(5);
  });

  test("updateRemaining of an identity refuses the same as that of a key, and then changes nothing", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId } = await team(context);
    expect(
      await rejectionOf(latchkey.updateRemaining({ identityId, op: "decrement", value: 6 })),
    ).toMatchObject({ reason: "insufficient-uses", details: { remaining: 5 } });
    const most = Number.MAX_SAFE_INTEGER;
    const tooMany = latchkey.updateRemaining({ identityId, op: "increment", value: most });
    expect((await rejectionOf(tooMany)).issues).toMatchObject([{ path: "value" }]);
    expect((await latchkey.getIdentity({ identityId })).remaining).toBe(5);
    await latchkey.updateRemaining({ identityId, op: "set", value: null });
    for (const op of ["increment", "decrement"] as const) {
      const call = latchkey.updateRemaining({ identityId, op, value: 1 });
      expect((await rejectionOf(call)).issues).toEqual([
        { path: "op", message: 'must be "set": the uses are unlimited' },
      ]);
    }
    for (const ids of [{ identityId: "id_unknown" }, { externalId: "nobody" }]) {
      const call = latchkey.updateRemaining({ ...ids, op: "set", value: 1 });
      expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND" });
    }
  });

  test("updateRemaining of an identity logs the uses and a removed refill, and nothing if nothing changes", async () => {
    const context = open();
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 3 } as const;
    const { identityId } = await team(context, { remaining: 5, refill });
    for (const value of [5, 7, 7, null])
      await latchkey.updateRemaining({ identityId, op: "set", value });
    const { events } = await latchkey.listAuditEvents({ identityId });
    expect(events.slice(0, 2)).toMatchObject([
      {
        type: "identity.updated",
        resourceId: identityId,
        changes: [
          { field: "remaining", before: 7 },
          { field: "refill", before: refill },
        ],
      },
      { type: "identity.updated", changes: [{ field: "remaining", before: 5, after: 7 }] },
    ]);
    expect(events.filter(({ type }) => type === "identity.updated")).toHaveLength(2);
  });

  test("createKey reports every field that usesFrom excludes, together with other issues", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const error = await rejectionOf(
      latchkey.createKey({
        apiId,
        usesFrom: "identity",
        remaining: 5,
        refill: { interval: "daily", amount: 0 },
        ratelimit: { limit: 1, duration: 1 },
        ratelimits: [{ name: "default", limit: 2, duration: 1 }],
        meta: "no" as never,
        expires: NOON,
      }),
    );
    expect(error.issues).toEqual([
      { path: "meta", message: expect.any(String) },
      { path: "refill.amount", message: "must be a whole number >= 1" },
      { path: "usesFrom", message: 'needs externalId if it is "identity"' },
      { path: "remaining", message: expect.stringContaining("set it on the identity") },
      { path: "refill", message: expect.stringContaining("set it on the identity") },
      { path: "ratelimits", message: expect.stringContaining("default") },
      { path: "expires", message: "must be later than now" },
    ]);
    const odd = await rejectionOf(latchkey.createKey({ apiId, usesFrom: "team" as never }));
    expect(odd.issues).toEqual([{ path: "usesFrom", message: 'must be "key" or "identity"' }]);
  });

  test("a key without uses left to draw from cannot be enabled until its identity has some", async () => {
    const context = open();
    const { latchkey } = context;
    const { one, identityId } = await team(context, { remaining: 1 });
    const { keyId } = one;
    await latchkey.updateKey({ keyId, enabled: false });
    await latchkey.updateIdentity({ identityId, remaining: 0 });
    const error = await rejectionOf(latchkey.updateKey({ keyId, enabled: true }));
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(error.message).toContain("its identity's remaining");
    expect((await latchkey.verifyKey({ key: one.key })).code).toBe("DISABLED");
    // Solved in one call: the key draws from itself, or from another identity.
    await latchkey.updateIdentity({ identityId, remaining: 1 });
    await latchkey.updateKey({ keyId, enabled: true });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "VALID",
      remaining: 0,
    });
    await latchkey.updateKey({ keyId, enabled: true, usesFrom: "key", remaining: 3 });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "VALID",
      remaining: 2,
    });
  });

  test("set uses are emitted and logged, and spent ones are not", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId, one } = await team(context, { remaining: 5 });
    await latchkey.verifyKey({ key: one.key });
    await latchkey.updateIdentity({
      identityId,
      remaining: 8,
      refill: { interval: "daily", amount: 2 },
    });
    const log = await latchkey.listAuditEvents({ identityId });
    expect(log.events.filter(({ type }) => type.startsWith("identity."))).toMatchObject([
      {
        type: "identity.updated",
        changes: [
          { field: "remaining", after: 8 },
          { field: "refill", after: { interval: "daily", amount: 2 } },
        ],
      },
      {
        type: "identity.created",
        changes: [
          { field: "externalId", after: "team" },
          { field: "remaining", after: 5 },
        ],
      },
    ]);
  });
});
