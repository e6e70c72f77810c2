import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("verifyKey", (open) => {
  test("N concurrent verifications of k uses admit exactly k", async () => {
    const context = open();
    const { key } = await issue(context, { remaining: 37 });
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, () => context.latchkey.verifyKey({ key })),
    );
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(37);
    expect(new Set(verdicts.map(({ code }) => code))).toEqual(new Set(["VALID", "USAGE_EXCEEDED"]));
  });

  test("the verification that takes the last use is valid, and the key is shown as disabled afterwards", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { remaining: 1 });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      valid: true,
      remaining: 0,
      enabled: true,
    });
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({
      remaining: 0,
      enabled: false,
    });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      code: "USAGE_EXCEEDED",
      enabled: false,
    });
    expect(await context.latchkey.verifyKey({ key, remaining: { cost: 0 } })).toMatchObject({
      code: "USAGE_EXCEEDED",
    });
  });

  test("a cost above the remaining uses takes nothing", async () => {
    const context = open();
    const { key } = await issue(context, { remaining: 5 });
    expect(await context.latchkey.verifyKey({ key, remaining: { cost: 6 } })).toMatchObject({
      code: "USAGE_EXCEEDED",
      remaining: 5,
    });
    expect(await context.latchkey.verifyKey({ key, remaining: { cost: 5 } })).toMatchObject({
      valid: true,
      remaining: 0,
    });
  });

  test("a refusal by a limit takes no use, and a refusal by uses takes no slot", async () => {
    const context = open();
    const { key } = await issue(context, {
      remaining: 3,
      ratelimit: { limit: 2, duration: HOUR_MS },
    });
    await context.latchkey.verifyKey({ key });
    await context.latchkey.verifyKey({ key });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      code: "RATE_LIMITED",
      remaining: 1,
    });
    context.advance(HOUR_MS);
    expect(await context.latchkey.verifyKey({ key, remaining: { cost: 2 } })).toMatchObject({
      code: "USAGE_EXCEEDED",
      ratelimit: { limit: 2, remaining: 2, reset: NOON + 2 * HOUR_MS },
    });
  });

  test("charges all limits or none", async () => {
    const context = open();
    await context.latchkey.createIdentity({
      externalId: "pier-7",
      ratelimits: [
        { name: "reads", limit: 10, duration: HOUR_MS },
        { name: "writes", limit: 1, duration: HOUR_MS },
      ],
    });
    const { key } = await issue(context, { externalId: "pier-7" });
    const ask = () =>
      context.latchkey.verifyKey({ key, ratelimits: [{ name: "reads" }, { name: "writes" }] });
    expect(await ask()).toMatchObject({ valid: true });
    expect(await ask()).toMatchObject({
      code: "RATE_LIMITED",
      ratelimit: { limit: 1, remaining: 0 },
      ratelimits: [
        { name: "reads", remaining: 9, exceeded: false },
        { name: "writes", remaining: 0, exceeded: true },
      ],
    });
  });

  test("keys of one identity share its limits", async () => {
    const context = open();
    await context.latchkey.createIdentity({
      externalId: "pier-7",
      ratelimits: [{ name: "reads", limit: 3, duration: HOUR_MS }],
    });
    const { apiId, key } = await issue(context, { externalId: "pier-7" });
    const other = await context.latchkey.createKey({ apiId, externalId: "pier-7" });
    const ask = (secret: string) =>
      context.latchkey.verifyKey({ key: secret, ratelimits: [{ name: "reads" }] });
    const codes = [await ask(key), await ask(other.key), await ask(key), await ask(other.key)].map(
      ({ code }) => code,
    );
    expect(codes).toEqual(["VALID", "VALID", "VALID", "RATE_LIMITED"]);
  });

  test("an exhausted key works again at the very instant its refill is due", async () => {
    const context = open();
    const { key } = await issue(context, {
      remaining: 1,
      refill: { interval: "daily", amount: 2 },
    });
    await context.latchkey.verifyKey({ key });
    context.setClock(NOON + DAY_MS / 2 - 1);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "USAGE_EXCEEDED" });
    context.setClock(NOON + DAY_MS / 2);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 1 });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 0 });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "USAGE_EXCEEDED" });
  });

  test("the key stops working at the instant of its expiry", async () => {
    const context = open();
    const { key } = await issue(context, { expires: NOON + 1_000 });
    context.setClock(NOON + 999);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      valid: true,
      expires: NOON + 1_000,
    });
    context.setClock(NOON + 1_000);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      code: "EXPIRED",
      enabled: false,
    });
  });

  test("a clock set back revives no key", async () => {
    const context = open();
    const { key } = await issue(context, { expires: NOON + 1_000 });
    context.setClock(NOON + 1_000);
    await context.latchkey.verifyKey({ key });
    context.setClock(NOON);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "EXPIRED" });
  });

  test("a latchkey with a cache sees a change by another one at once", async () => {
    const context = open();
    const other = context.another();
    const { key, keyId, apiId } = await issue(context, { externalId: "pier-7" });
    const ask = () => context.latchkey.verifyKey({ key, apiId });
    expect(await ask()).toMatchObject({ valid: true });
    await other.updateKey({ keyId, enabled: false });
    expect(await ask()).toMatchObject({ code: "DISABLED" });
    await other.updateKey({ keyId, enabled: true });
    expect(await ask()).toMatchObject({ valid: true });
    await other.updateIdentity({ externalId: "pier-7", meta: { berth: 4 } });
    expect(await ask()).toMatchObject({ valid: true, identity: { meta: { berth: 4 } } });
    await other.setWorkspaceEnabled(false);
    expect(await ask()).toMatchObject({ valid: false, code: "FORBIDDEN", keyId });
    await other.setWorkspaceEnabled(true);
    expect(await ask()).toMatchObject({ valid: true });
    await other.deleteKey({ keyId });
    expect(await ask()).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test("finds the key of the right workspace if two imported the same secret", async () => {
    const { latchkey } = open();
    const secret = "tide_live_4Jx8vQ2mZ7";
    const tenants = [latchkey, latchkey.workspace("ws_other")];
    const keyIds: (string | undefined)[] = [];
    for (const tenant of tenants) {
      const { apiId } = await tenant.createApi({ name: "tide tables" });
      const { keyIds: made } = await tenant.createKeys([{ apiId, plaintext: secret }]);
      keyIds.push(made[0]);
    }
    for (let round = 0; round < 2; round += 1) {
      for (const [index, tenant] of tenants.entries()) {
        expect(await tenant.verifyKey({ key: secret })).toMatchObject({
          code: "VALID",
          keyId: keyIds[index],
        });
      }
    }
    await latchkey.deleteKey({ keyId: keyIds[0] as string });
    expect(await latchkey.verifyKey({ key: secret })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(await tenants[1]?.verifyKey({ key: secret })).toMatchObject({ code: "VALID" });
  });

  test("distinguishes a key of another API from an unknown one, and hides keys of other workspaces", async () => {
    const context = open();
    const { key } = await issue(context);
    const { apiId } = await context.latchkey.createApi({ name: "harbour gates" });
    expect(await context.latchkey.verifyKey({ key, apiId })).toMatchObject({ code: "FORBIDDEN" });
    expect(await context.latchkey.workspace("ws_other").verifyKey({ key })).toEqual({
      valid: false,
      code: "NOT_FOUND",
    });
    expect(await context.latchkey.verifyKey({ key }, { apiIds: [apiId] })).toEqual({
      valid: false,
      code: "NOT_FOUND",
    });
    expect(await context.latchkey.verifyKey({ key: "no such key" })).toEqual({
      valid: false,
      code: "NOT_FOUND",
    });
  });

  test("a permission query checks direct permissions and those of roles, including wildcards", async () => {
    const context = open();
    for (const name of ["tides.*", "gates.open", "gates.close"])
      await context.latchkey.createPermission({ name });
    await context.latchkey.createRole({ name: "pilot", permissions: ["gates.open"] });
    const { key } = await issue(context, { roles: ["pilot"], permissions: ["tides.*"] });
    const codeOf = async (permissions: Parameters<typeof ask>[0]) => (await ask(permissions)).code;
    const ask = (
      permissions: NonNullable<
        Parameters<typeof context.latchkey.verifyKey>[0]["authorization"]
      >["permissions"],
    ) => context.latchkey.verifyKey({ key, authorization: { permissions } });
    expect(await codeOf({ and: ["tides.north.read", "gates.open"] })).toBe("VALID");
    expect(await codeOf({ and: ["tides.read", "gates.close"] })).toBe("INSUFFICIENT_PERMISSIONS");
    expect(await codeOf({ or: ["gates.close", { and: ["gates.open", "tides.read"] }] })).toBe(
      "VALID",
    );
  });

  test("a malformed permission query is an error, even for an unknown key", async () => {
    const context = open();
    for (const permissions of [{ and: ["a"], or: ["b"] }, { and: [] }, {}, [], 7, ""]) {
      const error = await rejectionOf(
        context.latchkey.verifyKey({
          key: "unknown",
          authorization: { permissions: permissions as never },
        }),
      );
      expect(error).toMatchObject({ code: "BAD_REQUEST" });
    }
  });

  test("an unknown limit name is an error that names it by place, and nothing is charged", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { remaining: 5 });
    const error = await rejectionOf(
      context.latchkey.verifyKey({
        key,
        ratelimits: [{ name: "a", limit: 1, duration: 1 }, { name: "nope" }],
      }),
    );
    expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path: "ratelimits.1.name" }] });
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ remaining: 5 });
  });

  test("an ad-hoc limit counts by name and duration", async () => {
    const context = open();
    const { key } = await issue(context);
    const ask = (limit: number, duration: number) =>
      context.latchkey.verifyKey({ key, ratelimits: [{ name: "export", limit, duration }] });
    expect(await ask(1, HOUR_MS)).toMatchObject({ valid: true, ratelimit: { remaining: 0 } });
    expect(await ask(1, HOUR_MS)).toMatchObject({ code: "RATE_LIMITED" });
    expect(await ask(2, HOUR_MS)).toMatchObject({ valid: true });
    expect(await ask(1, DAY_MS)).toMatchObject({ valid: true });
  });

  test("the default limit applies automatically, at the cost of the request", async () => {
    const context = open();
    const { key } = await issue(context, { ratelimit: { limit: 10, duration: HOUR_MS } });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      ratelimit: { remaining: 9 },
    });
    expect(await context.latchkey.verifyKey({ key, ratelimit: { cost: 4 } })).toMatchObject({
      ratelimit: { remaining: 5 },
    });
    expect(
      await context.latchkey.verifyKey({ key, ratelimits: [{ name: "default", cost: 5 }] }),
    ).toMatchObject({ ratelimit: { remaining: 0 } });
    expect(await context.latchkey.verifyKey({ key, ratelimit: { cost: 0 } })).toMatchObject({
      valid: true,
    });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("a repeated limit name, or half of an ad-hoc limit, is an error", async () => {
    const context = open();
    const twice = await rejectionOf(
      context.latchkey.verifyKey({
        key: "k",
        ratelimits: [{ name: "a", limit: 1, duration: 1 }, { name: "a" }],
      }),
    );
    expect(twice.issues).toEqual([
      { path: "ratelimits.1.name", message: "must not be given twice" },
    ]);
    const half = await rejectionOf(
      context.latchkey.verifyKey({ key: "k", ratelimits: [{ name: "a", limit: 1 }] }),
    );
    expect(half.issues).toEqual([
      { path: "ratelimits.0.duration", message: "is required with limit" },
    ]);
  });

  test("changing a verdict changes neither permissions nor metadata", async () => {
    const context = open();
    await context.latchkey.createPermission({ name: "tides.read" });
    const { key } = await issue(context, {
      permissions: ["tides.read"],
      meta: { berth: { number: 4 } },
      externalId: "pier-7",
    });
    await context.latchkey.updateIdentity({ externalId: "pier-7", meta: { boats: ["a"] } });
    for (const spoil of [
      (verdict: never) => (verdict as { permissions: string[] }).permissions.push("gates.open"),
      (verdict: never) => (verdict as { roles: string[] }).roles.push("pilot"),
      (verdict: never) =>
        Object.assign((verdict as { meta: { berth: object } }).meta.berth, { number: 5 }),
      (verdict: never) =>
        (verdict as { identity: { meta: { boats: string[] } } }).identity.meta.boats.push("b"),
    ]) {
      const verdict = await context.latchkey.verifyKey({ key });
      expect(() => spoil(verdict as never)).toThrow(TypeError);
    }
    expect(
      await context.latchkey.verifyKey({ key, authorization: { permissions: "gates.open" } }),
    ).toMatchObject({ code: "INSUFFICIENT_PERMISSIONS" });
  });

  test("a repetition with the same request id gets the same verdict, is charged once, and does not outlive a revocation", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { remaining: 2 });
    const first = await context.latchkey.verifyKey({ key, requestId: "retry-1" });
    expect(await context.another().verifyKey({ key, requestId: "retry-1" })).toEqual(first);
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ remaining: 1 });
    const other = context.latchkey.verifyKey({ key, requestId: "retry-1", remaining: { cost: 2 } });
    expect(await rejectionOf(other)).toMatchObject({ code: "CONFLICT" });
    await context.latchkey.updateKey({ keyId, enabled: false });
    expect(await context.latchkey.verifyKey({ key, requestId: "retry-1" })).toMatchObject({
      code: "DISABLED",
    });
    await context.latchkey.updateKey({ keyId, enabled: true });
    context.advance(10 * 60_000);
    expect(await context.latchkey.verifyKey({ key, requestId: "retry-1" })).toMatchObject({
      valid: true,
      remaining: 0,
    });
  });

  test("keys keep working when a pepper is introduced or rotated", async () => {
    const context = open();
    const pepper = (byte: number) => Uint8Array.from({ length: 32 }, (_, index) => byte + index);
    const { key, apiId } = await issue(context);
    const first = context.another({ pepper: { current: "p1", keys: { p1: pepper(1) } } });
    const { key: peppered } = await first.createKey({ apiId });
    const second = context.another({
      pepper: { current: "p2", keys: { p1: pepper(1), p2: pepper(2) } },
    });
    for (const secret of [key, peppered])
      expect(await second.verifyKey({ key: secret })).toMatchObject({ valid: true });
    expect(await context.another().verifyKey({ key: peppered })).toEqual({
      valid: false,
      code: "NOT_FOUND",
    });
  });
});
