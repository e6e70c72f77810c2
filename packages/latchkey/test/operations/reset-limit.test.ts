import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

const YEAR_MS = 365 * DAY_MS;

describeOnMemory("resetLimit", (open) => {
  test("empties a limit of a key for every process, and keeps its other limits and its uses", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, {
      remaining: 9,
      ratelimit: { limit: 1, duration: HOUR_MS },
      ratelimits: [{ name: "writes", limit: 3, duration: HOUR_MS }],
    });
    const other = context.another();
    const ratelimits = [{ name: "writes" }];
    expect(await other.verifyKey({ key, ratelimits })).toMatchObject({ valid: true });
    expect(await other.verifyKey({ key, ratelimits })).toMatchObject({ code: "RATE_LIMITED" });
    expect(await latchkey.resetLimit({ keyId, name: "default" })).toEqual({});
    expect(await other.verifyKey({ key, ratelimits })).toMatchObject({
      valid: true,
      remaining: 7,
      ratelimits: [{ remaining: 0 }, { name: "writes", remaining: 1 }],
    });
  });

  test("empties an ad-hoc limit, selected by its duration", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context);
    const verify = async (duration: number) =>
      (await latchkey.verifyKey({ key, ratelimits: [{ name: "burst", limit: 1, duration }] })).code;
    for (const duration of [HOUR_MS, DAY_MS]) await verify(duration);
    await latchkey.resetLimit({ keyId, name: "burst", duration: DAY_MS });
    expect([await verify(HOUR_MS), await verify(DAY_MS)]).toEqual(["RATE_LIMITED", "VALID"]);
  });

  test("empties a limit of a key that was rotated for both of its secrets", async () => {
    const context = open();
    const { latchkey } = context;
    const old = await issue(context, { ratelimit: { limit: 1, duration: HOUR_MS } });
    const made = { ratelimits: [{ name: "burst", limit: 1, duration: HOUR_MS }] };
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: DAY_MS });
    await latchkey.verifyKey({ key: old.key, ...made });
    expect((await latchkey.verifyKey({ key: next.key, ...made })).code).toBe("RATE_LIMITED");
    await latchkey.resetLimit({ keyId: next.keyId, name: "default" });
    await latchkey.resetLimit({ keyId: next.keyId, name: "burst", duration: HOUR_MS });
    expect((await latchkey.verifyKey({ key: old.key, ...made })).code).toBe("VALID");
  });

  test("empties a limit of an identity for all of its keys", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId } = await latchkey.createIdentity({
      externalId: "team",
      ratelimits: [{ name: "all", limit: 1, duration: HOUR_MS, autoApply: true }],
    });
    const one = await issue(context, { externalId: "team" });
    const two = await issue(context, { externalId: "team" });
    await latchkey.verifyKey({ key: one.key });
    expect((await latchkey.verifyKey({ key: two.key })).code).toBe("RATE_LIMITED");
    await latchkey.resetLimit({ identityId, name: "all" });
    expect((await latchkey.verifyKey({ key: two.key })).code).toBe("VALID");
  });

  test("empties the limit of one identifier in a namespace, and no other's", async () => {
    const { latchkey } = open();
    const take = async (identifier: string) =>
      (await latchkey.limit({ namespace: "mail", identifier, limit: 1, duration: HOUR_MS }))
        .success;
    for (const identifier of ["a", "b"]) await take(identifier);
    await latchkey.resetLimit({ namespace: "mail", identifier: "a", duration: HOUR_MS });
    expect([await take("a"), await take("b")]).toEqual([true, false]);
  });

  test("repairs a window that a wrong clock put into the future", async () => {
    const context = open();
    const limit = { limit: 1, duration: HOUR_MS };
    const named = { namespace: "mail", identifier: "a", duration: HOUR_MS };
    const { key, keyId } = await issue(context, { ratelimit: limit });
    const ahead = context.another({ clock: () => NOON + YEAR_MS });
    await ahead.verifyKey({ key });
    await ahead.limit({ ...named, limit: 1 });
    context.advance(DAY_MS);
    const { latchkey } = context;
    expect((await latchkey.verifyKey({ key })).code).toBe("RATE_LIMITED");
    expect((await latchkey.limit({ ...named, limit: 1 })).success).toBe(false);
    await latchkey.resetLimit({ keyId, name: "default" });
    await latchkey.resetLimit(named);
    expect(await latchkey.verifyKey({ key })).toMatchObject({
      code: "VALID",
      ratelimit: { reset: NOON + DAY_MS + HOUR_MS },
    });
    expect((await latchkey.limit({ ...named, limit: 1 })).success).toBe(true);
  });

  test("refuses an unknown limit by name, so that a typo is noticed", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await issue(context, { ratelimit: { limit: 1, duration: HOUR_MS } });
    const { identityId } = await latchkey.createIdentity({ externalId: "team" });
    const before = (await latchkey.listAuditEvents()).events;
    for (const owner of [{ keyId }, { identityId }]) {
      const error = await rejectionOf(latchkey.resetLimit({ ...owner, name: "defualt" }));
      expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path: "name" }] });
    }
    expect((await latchkey.listAuditEvents()).events).toEqual(before);
  });

  test("does not find an unknown key or identity, nor one of another workspace, in the same way", async () => {
    const context = open();
    const { keyId } = await issue(context, { ratelimit: { limit: 1, duration: HOUR_MS } });
    const elsewhere = context.latchkey.workspace("ws_other");
    for (const owner of [{ keyId }, { keyId: "key_none" }, { identityId: "id_none" }])
      expect(await rejectionOf(elsewhere.resetLimit({ ...owner, name: "default" }))).toMatchObject({
        code: "NOT_FOUND",
      });
  });

  test.each([
    ["keyId", {}],
    ["keyId", { keyId: "k", identityId: "i", name: "n" }],
    ["keyId", { keyId: "k", namespace: "mail", identifier: "a", duration: 1 }],
    ["name", { keyId: "k" }],
    ["name", { identityId: "i" }],
    ["identifier", { keyId: "k", name: "n", identifier: "a" }],
    ["duration", { identityId: "i", name: "n", duration: 1 }],
    ["identifier", { namespace: "mail", duration: 1 }],
    ["duration", { namespace: "mail", identifier: "a" }],
    ["name", { namespace: "mail", identifier: "a", duration: 1, name: "n" }],
    ["duration", { keyId: "k", name: "n", duration: 0 }],
    ["limit", { keyId: "k", name: "n", limit: 1 }],
  ])("a bad %s is refused by name: %j", async (path, input) => {
    const { latchkey } = open();
    const error = await rejectionOf(latchkey.resetLimit(input as never));
    expect(error.issues).toMatchObject([{ path }]);
  });
});
