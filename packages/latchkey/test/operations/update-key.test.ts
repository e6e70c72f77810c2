import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("updateKey", (open) => {
  test("keeps omitted fields, and clears null ones", async () => {
    const context = open();
    const { keyId } = await issue(context, {
      name: "north pier",
      externalId: "pier-7",
      meta: { berth: 4 },
      environment: "live",
      expires: NOON + DAY_MS,
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
      ratelimit: { limit: 1, duration: HOUR_MS },
    });
    const before = await context.latchkey.getKey({ keyId });
    context.advance(1);
    await context.latchkey.updateKey({ keyId });
    expect(await context.latchkey.getKey({ keyId })).toEqual(before);
    await context.latchkey.updateKey({
      keyId,
      name: null,
      externalId: null,
      meta: null,
      environment: null,
      expires: null,
      remaining: null,
      ratelimit: null,
    });
    const { id, start, apiId, workspaceId, createdAt } = before;
    expect(await context.latchkey.getKey({ keyId })).toEqual({
      id,
      start,
      apiId,
      workspaceId,
      createdAt,
      updatedAt: NOON + 1,
      roles: [],
      permissions: [],
      enabled: true,
    });
  });

  test("updatedAt appears with the first change of configuration, not with a use or a refill", async () => {
    const context = open();
    const { key, keyId } = await issue(context, {
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
    });
    context.advance(2 * DAY_MS);
    await context.latchkey.verifyKey({ key });
    expect(await context.latchkey.getKey({ keyId })).not.toHaveProperty("updatedAt");
    await context.latchkey.updateKey({ keyId, name: "north pier" });
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({
      updatedAt: NOON + 2 * DAY_MS,
    });
  });

  test("disabled (by a caller) → enabled: true → enabled", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { enabled: false });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
    await context.latchkey.updateKey({ keyId, enabled: true });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("disabled (expired) → enabled: true → enabled, and the elapsed expiry is cleared", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { expires: NOON + 1 });
    context.advance(1);
    await context.latchkey.updateKey({ keyId, enabled: true });
    expect(await context.latchkey.getKey({ keyId })).not.toHaveProperty("expires");
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("disabled (expired) → a later expires, or null → enabled", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { expires: NOON + 1 });
    context.advance(1);
    await context.latchkey.updateKey({ keyId, expires: NOON + 2 });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    context.advance(1);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "EXPIRED" });
    await context.latchkey.updateKey({ keyId, expires: null });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("disabled (exhausted) → enabled: true alone is refused with advice to set remaining", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { remaining: 1 });
    await context.latchkey.verifyKey({ key });
    const error = await rejectionOf(context.latchkey.updateKey({ keyId, enabled: true }));
    expect(error).toMatchObject({
      code: "PRECONDITION_FAILED",
      message: expect.stringContaining("remaining"),
    });
    await context.latchkey.updateKey({ keyId, enabled: true, remaining: 2 });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 1 });
    await context.latchkey.updateKey({ keyId, remaining: null });
    const verdict = await context.latchkey.verifyKey({ key });
    expect(verdict.valid).toBe(true);
    expect(verdict).not.toHaveProperty("remaining");
  });

  test("a counter continues if its limit keeps its duration", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { ratelimit: { limit: 3, duration: HOUR_MS } });
    await context.latchkey.verifyKey({ key });
    await context.latchkey.updateKey({ keyId, ratelimit: { limit: 2, duration: HOUR_MS } });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      valid: true,
      ratelimit: { remaining: 0 },
    });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("roles and permissions are replaced as a whole, by name or id, and created on request", async () => {
    const context = open();
    const { permissionId } = await context.latchkey.createPermission({ name: "tides.read" });
    const { key, keyId } = await issue(context, { permissions: ["tides.read"] });
    await context.latchkey.updateKey({
      keyId,
      roles: [{ name: "pilot", create: true }],
      permissions: [{ id: permissionId }, { name: "gates.open", create: true }],
    });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      roles: ["pilot"],
      permissions: ["gates.open", "tides.read"],
    });
    await context.latchkey.updateKey({ keyId, roles: [], permissions: ["gates.open"] });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      roles: [],
      permissions: ["gates.open"],
    });
    const error = await rejectionOf(
      context.latchkey.updateKey({
        keyId,
        name: "kept out",
        roles: ["diver"],
        permissions: [{ id: "perm_none" }],
      }),
    );
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(error.message).toContain("diver");
    expect(error.message).toContain("perm_none");
    expect(await context.latchkey.getKey({ keyId })).not.toHaveProperty("name");
  });

  test("N racing updates of different fields all survive", async () => {
    const context = open();
    const { keyId } = await issue(context);
    await Promise.all([
      context.latchkey.updateKey({ keyId, name: "north pier" }),
      context.another().updateKey({ keyId, meta: { berth: 4 } }),
      context.latchkey.updateKey({ keyId, environment: "live" }),
      context.another().updateKey({ keyId, remaining: 7 }),
      context.latchkey.updateKey({ keyId, externalId: "pier-7" }),
    ]);
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({
      name: "north pier",
      meta: { berth: 4 },
      environment: "live",
      remaining: 7,
      ownerId: "pier-7",
    });
  });

  test("metadata beyond its bounds is refused with the bound, and null clears it", async () => {
    const context = open();
    const { keyId } = await issue(context, { meta: { berth: 4 } });
    const meta = { text: "x".repeat(20_000) };
    expect((await rejectionOf(context.latchkey.updateKey({ keyId, meta }))).issues).toEqual([
      { path: "meta", message: "must be at most 16384 bytes of JSON" },
    ]);
    await context.latchkey.updateKey({ keyId, meta: null });
    expect(await context.latchkey.getKey({ keyId })).not.toHaveProperty("meta");
  });

  test("refill needs remaining, and is removed if the key becomes unlimited", async () => {
    const context = open();
    const { keyId } = await issue(context);
    const refill = { interval: "daily", amount: 5 } as const;
    expect((await rejectionOf(context.latchkey.updateKey({ keyId, refill }))).issues).toEqual([
      { path: "refill", message: "needs remaining" },
    ]);
    await context.latchkey.updateKey({ keyId, refill, remaining: 1 });
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ remaining: 1, refill });
    await context.latchkey.updateKey({ keyId, remaining: null });
    const unlimited = await context.latchkey.getKey({ keyId });
    expect(unlimited).not.toHaveProperty("refill");
    expect(unlimited).not.toHaveProperty("remaining");
  });
});

describeOnMemory("updateRemaining", (open) => {
  test("sets, raises and lowers, and a decrement below 0 changes nothing", async () => {
    const context = open();
    const { keyId } = await issue(context, { remaining: 5 });
    const change = (op: "set" | "increment" | "decrement", value: number | null) =>
      context.latchkey.updateRemaining({ keyId, op, value });
    expect(await change("increment", 3)).toEqual({ remaining: 8 });
    expect(await change("decrement", 8)).toEqual({ remaining: 0 });
    expect(await rejectionOf(change("decrement", 1))).toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect(await change("set", 2)).toEqual({ remaining: 2 });
    expect(await rejectionOf(change("increment", Number.MAX_SAFE_INTEGER))).toMatchObject({
      code: "BAD_REQUEST",
    });
    expect(await change("set", null)).toEqual({});
    expect(await rejectionOf(change("increment", 1))).toMatchObject({ code: "BAD_REQUEST" });
    expect(await rejectionOf(change("decrement", 1))).toMatchObject({ code: "BAD_REQUEST" });
  });

  test("N parallel increments and decrements lose nothing", async () => {
    const context = open();
    const { keyId } = await issue(context, { remaining: 1_000 });
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        context.latchkey.updateRemaining({
          keyId,
          op: index % 2 === 0 ? "increment" : "decrement",
          value: index + 1,
        }),
      ),
    );
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ remaining: 980 });
  });

  test("a due refill is applied before the change", async () => {
    const context = open();
    const { key, keyId } = await issue(context, {
      remaining: 1,
      refill: { interval: "daily", amount: 10 },
    });
    await context.latchkey.verifyKey({ key });
    context.advance(DAY_MS);
    expect(await context.latchkey.updateRemaining({ keyId, op: "increment", value: 5 })).toEqual({
      remaining: 15,
    });
    context.advance(DAY_MS);
    expect(await context.latchkey.updateRemaining({ keyId, op: "set", value: 3 })).toEqual({
      remaining: 3,
    });
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ remaining: 3 });
  });
});
