import { expect, test } from "vitest";
import { DAY_MS, describeOnEveryStore, HOUR_MS, issue, NOON, rejectionOf } from "../every-store.js";

describeOnEveryStore("updateKey", (open) => {
  test("leaves what is omitted and clears what is null", async () => {
    const bed = open();
    const { keyId } = await issue(bed, {
      name: "north pier",
      externalId: "pier-7",
      meta: { berth: 4 },
      environment: "live",
      expires: NOON + DAY_MS,
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
      ratelimit: { limit: 1, duration: HOUR_MS },
    });
    const before = await bed.latchkey.getKey({ keyId });
    bed.advance(1);
    await bed.latchkey.updateKey({ keyId });
    expect(await bed.latchkey.getKey({ keyId })).toEqual(before);
    await bed.latchkey.updateKey({
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
    expect(await bed.latchkey.getKey({ keyId })).toEqual({
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
    const bed = open();
    const { key, keyId } = await issue(bed, {
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
    });
    bed.advance(2 * DAY_MS);
    await bed.latchkey.verifyKey({ key });
    expect(await bed.latchkey.getKey({ keyId })).not.toHaveProperty("updatedAt");
    await bed.latchkey.updateKey({ keyId, name: "north pier" });
    expect(await bed.latchkey.getKey({ keyId })).toMatchObject({ updatedAt: NOON + 2 * DAY_MS });
  });

  test("disabled (switched off) → enabled: true → enabled", async () => {
    const bed = open();
    const { key, keyId } = await issue(bed, { enabled: false });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
    await bed.latchkey.updateKey({ keyId, enabled: true });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("disabled (expired) → enabled: true → enabled, and the elapsed expiry is cleared", async () => {
    const bed = open();
    const { key, keyId } = await issue(bed, { expires: NOON + 1 });
    bed.advance(1);
    await bed.latchkey.updateKey({ keyId, enabled: true });
    expect(await bed.latchkey.getKey({ keyId })).not.toHaveProperty("expires");
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("disabled (expired) → a later expires, or null → enabled", async () => {
    const bed = open();
    const { key, keyId } = await issue(bed, { expires: NOON + 1 });
    bed.advance(1);
    await bed.latchkey.updateKey({ keyId, expires: NOON + 2 });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    bed.advance(1);
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ code: "EXPIRED" });
    await bed.latchkey.updateKey({ keyId, expires: null });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("disabled (exhausted) → enabled: true alone is refused and says to set remaining", async () => {
    const bed = open();
    const { key, keyId } = await issue(bed, { remaining: 1 });
    await bed.latchkey.verifyKey({ key });
    const error = await rejectionOf(bed.latchkey.updateKey({ keyId, enabled: true }));
    expect(error).toMatchObject({
      code: "PRECONDITION_FAILED",
      message: expect.stringContaining("remaining"),
    });
    await bed.latchkey.updateKey({ keyId, enabled: true, remaining: 2 });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 1 });
    await bed.latchkey.updateKey({ keyId, remaining: null });
    const verdict = await bed.latchkey.verifyKey({ key });
    expect(verdict.valid).toBe(true);
    expect(verdict).not.toHaveProperty("remaining");
  });

  test("a counter goes on when its limit keeps its duration", async () => {
    const bed = open();
    const { key, keyId } = await issue(bed, { ratelimit: { limit: 3, duration: HOUR_MS } });
    await bed.latchkey.verifyKey({ key });
    await bed.latchkey.updateKey({ keyId, ratelimit: { limit: 2, duration: HOUR_MS } });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({
      valid: true,
      ratelimit: { remaining: 0 },
    });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("roles and permissions are replaced as a whole, by name or id, and made on demand", async () => {
    const bed = open();
    const { permissionId } = await bed.latchkey.createPermission({ name: "tides.read" });
    const { key, keyId } = await issue(bed, { permissions: ["tides.read"] });
    await bed.latchkey.updateKey({
      keyId,
      roles: [{ name: "pilot", create: true }],
      permissions: [{ id: permissionId }, { name: "gates.open", create: true }],
    });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({
      roles: ["pilot"],
      permissions: ["gates.open", "tides.read"],
    });
    await bed.latchkey.updateKey({ keyId, roles: [], permissions: ["gates.open"] });
    expect(await bed.latchkey.verifyKey({ key })).toMatchObject({
      roles: [],
      permissions: ["gates.open"],
    });
    const error = await rejectionOf(
      bed.latchkey.updateKey({
        keyId,
        name: "kept out",
        roles: ["diver"],
        permissions: [{ id: "perm_none" }],
      }),
    );
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(error.message).toContain("diver");
    expect(error.message).toContain("perm_none");
    expect(await bed.latchkey.getKey({ keyId })).not.toHaveProperty("name");
  });

  test("N racing updates of different fields all survive", async () => {
    const bed = open();
    const { keyId } = await issue(bed);
    await Promise.all([
      bed.latchkey.updateKey({ keyId, name: "north pier" }),
      bed.another().updateKey({ keyId, meta: { berth: 4 } }),
      bed.latchkey.updateKey({ keyId, environment: "live" }),
      bed.another().updateKey({ keyId, remaining: 7 }),
      bed.latchkey.updateKey({ keyId, externalId: "pier-7" }),
    ]);
    expect(await bed.latchkey.getKey({ keyId })).toMatchObject({
      name: "north pier",
      meta: { berth: 4 },
      environment: "live",
      remaining: 7,
      ownerId: "pier-7",
    });
  });

  test("metadata out of bounds is refused with its bound, and null clears it", async () => {
    const bed = open();
    const { keyId } = await issue(bed, { meta: { berth: 4 } });
    const meta = { text: "x".repeat(20_000) };
    expect((await rejectionOf(bed.latchkey.updateKey({ keyId, meta }))).issues).toEqual([
      { path: "meta", message: "must be at most 16384 bytes of JSON" },
    ]);
    await bed.latchkey.updateKey({ keyId, meta: null });
    expect(await bed.latchkey.getKey({ keyId })).not.toHaveProperty("meta");
  });

  test("refill needs remaining, and goes when the key becomes unlimited", async () => {
    const bed = open();
    const { keyId } = await issue(bed);
    const refill = { interval: "daily", amount: 5 } as const;
    expect((await rejectionOf(bed.latchkey.updateKey({ keyId, refill }))).issues).toEqual([
      { path: "refill", message: "needs remaining" },
    ]);
    await bed.latchkey.updateKey({ keyId, refill, remaining: 1 });
    expect(await bed.latchkey.getKey({ keyId })).toMatchObject({ remaining: 1, refill });
    await bed.latchkey.updateKey({ keyId, remaining: null });
    const unlimited = await bed.latchkey.getKey({ keyId });
    expect(unlimited).not.toHaveProperty("refill");
    expect(unlimited).not.toHaveProperty("remaining");
  });
});

describeOnEveryStore("updateRemaining", (open) => {
  test("sets, raises and lowers, and a decrement below 0 changes nothing", async () => {
    const bed = open();
    const { keyId } = await issue(bed, { remaining: 5 });
    const change = (op: "set" | "increment" | "decrement", value: number | null) =>
      bed.latchkey.updateRemaining({ keyId, op, value });
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
    const bed = open();
    const { keyId } = await issue(bed, { remaining: 1_000 });
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        bed.latchkey.updateRemaining({
          keyId,
          op: index % 2 === 0 ? "increment" : "decrement",
          value: index + 1,
        }),
      ),
    );
    expect(await bed.latchkey.getKey({ keyId })).toMatchObject({ remaining: 980 });
  });

  test("a refill that is due counts before the change", async () => {
    const bed = open();
    const { key, keyId } = await issue(bed, {
      remaining: 1,
      refill: { interval: "daily", amount: 10 },
    });
    await bed.latchkey.verifyKey({ key });
    bed.advance(DAY_MS);
    expect(await bed.latchkey.updateRemaining({ keyId, op: "increment", value: 5 })).toEqual({
      remaining: 15,
    });
    bed.advance(DAY_MS);
    expect(await bed.latchkey.updateRemaining({ keyId, op: "set", value: 3 })).toEqual({
      remaining: 3,
    });
    expect(await bed.latchkey.getKey({ keyId })).toMatchObject({ remaining: 3 });
  });
});
