import type { Latchkey, PortalAllow, PortalSession } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore, describeOnMemoryOrAll } from "./every-store.js";
import {
  DAY_MS,
  describeOnMemory,
  expectRefused,
  HOUR_MS,
  rejectionOf,
  type TestContext,
} from "./test-context.js";

const ALL = { create: true, rotate: true, revoke: true } as const;

const LIMIT = { name: "default", limit: 60, duration: 60_000 } as const;

async function setUp(context: TestContext, given: Partial<PortalAllow> = {}) {
  const { latchkey } = context;
  for (const name of ["tides.read", "tides.write", "tides.admin"])
    await latchkey.createPermission({ name });
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { apiId: otherApiId } = await latchkey.createApi({ name: "charts" });
  const allow = { apiIds: [apiId], ...ALL, permissions: ["tides.read", "tides.write"], ...given };
  const created = await latchkey.createPortalSession({ externalId: "pier-7", allow });
  return { latchkey, apiId, otherApiId, ...created, session: await opened(latchkey, created) };
}

async function opened(
  latchkey: Latchkey,
  { secret }: { readonly secret: string },
): Promise<PortalSession> {
  const session = await latchkey.openPortalSession(secret);
  if (session === null) throw new TypeError("the session is over");
  return session;
}

describeOnMemoryOrAll("portal sessions", (open) => {
  test.each([[[{ ...LIMIT, limit: 1_000 }]], [[{ ...LIMIT, name: "tiles" }]]])(
    "a rotation gives no limit above the ceiling of the API, and removes none that the API requires: %j",
    async (ratelimits) => {
      const { latchkey, apiId, session } = await setUp(open(), { ratelimits });
      await latchkey.updateApi({
        apiId,
        ceilings: { maxRatelimit: { limit: 10, duration: "1m" } },
      });
      const ratelimit = { limit: 10, duration: 60_000 };
      const { keyId } = await latchkey.createKey({ apiId, externalId: "pier-7", ratelimit });
      const calls = [
        () => session.createMyKey({ name: "boat" }),
        () => session.rotateMyKey({ keyId }),
      ];
      for (const call of calls)
        expect(await rejectionOf(call())).toMatchObject({ reason: "above-ceiling" });
      expect((await latchkey.getKey({ keyId })).rotatedTo).toBeUndefined();
    },
  );

  test("a customer can create, rename, watch, rotate and revoke their own keys", async () => {
    const context = open();
    const { latchkey, apiId, session } = await setUp(context, { ratelimits: [LIMIT] });
    expect(session.allow).toEqual({
      ...ALL,
      permissions: ["tides.read", "tides.write"],
      apis: [{ id: apiId, name: "tide tables" }],
    });
    const { keyId, key } = await session.createMyKey({
      name: "boat",
      expires: context.now() + DAY_MS,
      permissions: ["tides.read"],
    });
    expect(await latchkey.verifyKey({ key })).toMatchObject({
      valid: true,
      permissions: ["tides.read"],
      identity: { externalId: "pier-7" },
      ratelimit: { limit: 60, remaining: 59 },
    });
    await session.renameMyKey({ keyId, name: "big boat" });
    const { keys } = await session.listMyKeys({});
    expect(keys).toEqual([
      expect.objectContaining({ id: keyId, name: "big boat", enabled: true, canRotate: true }),
    ]);
    const { verifications } = await session.usageOfMyKey({ keyId, days: 2 });
    expect(verifications.map(({ success }) => success)).toEqual([0, 1]);
    const next = await session.rotateMyKey({ keyId, graceMs: "1h" });
    for (const one of [key, next.key])
      expect(await latchkey.verifyKey({ key: one })).toMatchObject({ valid: true });
    await session.revokeMyKey({ keyId: next.keyId });
    await session.revokeMyKey({ keyId });
    for (const one of [key, next.key])
      expect(await context.another().verifyKey({ key: one })).toMatchObject({ code: "NOT_FOUND" });
    expect((await session.listMyKeys({})).keys).toEqual([]);
    const { events } = await latchkey.listAuditEvents({
      actor: `portal session of ${session.identityId}`,
    });
    expect(events.map(({ type }) => type).sort()).toEqual([
      "key.created",
      "key.created",
      "key.deleted",
      "key.deleted",
      "key.rotated",
      "key.updated",
    ]);
  });

  test("keys that a customer creates take their uses from the customer if the session says so", async () => {
    const context = open();
    await context.latchkey.createIdentity({ externalId: "pier-7", remaining: 3 });
    const { latchkey, apiId, session } = await setUp(context, { usesFrom: "identity" });
    await latchkey.updateApi({ apiId, defaults: { remaining: 100 } });
    const [one, other] = [await session.createMyKey({}), await session.createMyKey({})];
    await latchkey.verifyKey({ key: one.key });
    expect(await latchkey.verifyKey({ key: other.key })).toMatchObject({ remaining: 1 });
    const next = await session.rotateMyKey({ keyId: one.keyId });
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({ remaining: 0 });
    expect(await latchkey.verifyKey({ key: other.key })).toMatchObject({ code: "USAGE_EXCEEDED" });
    expect((await session.listMyKeys({})).keys.map(({ remaining }) => remaining)).toEqual([
      0, 0, 0,
    ]);
  });

  test("what the session does not allow is refused, and nothing is written", async () => {
    const context = open();
    const { latchkey, apiId, otherApiId, session } = await setUp(context, {
      create: false,
      rotate: false,
      revoke: false,
    });
    const { keyId } = await latchkey.createKey({ apiId, externalId: "pier-7" });
    const before = await latchkey.getKey({ keyId });
    await expectRefused("FORBIDDEN", [
      session.createMyKey({ name: "x" }),
      session.renameMyKey({ keyId, name: "x" }),
      session.rotateMyKey({ keyId }),
      session.revokeMyKey({ keyId }),
    ]);
    await expectRefused("NOT_FOUND", [session.listMyKeys({ apiId: otherApiId })]);
    expect(await latchkey.getKey({ keyId })).toEqual(before);
    const all = await opened(
      latchkey,
      await latchkey.createPortalSession({
        externalId: "pier-7",
        allow: { apiIds: [apiId], ...ALL, permissions: ["tides.read"] },
      }),
    );
    await expectRefused("FORBIDDEN", [all.createMyKey({ permissions: ["tides.admin"] })]);
    await expectRefused("NOT_FOUND", [all.createMyKey({ apiId: otherApiId })]);
    await expectRefused("BAD_REQUEST", [
      all.createMyKey({ expires: context.now() }),
      all.createMyKey({ remaining: 9 } as never),
      all.renameMyKey({ keyId, name: "" }),
    ]);
  });

  test("a key with more roles or permissions than the session may give cannot be rotated", async () => {
    const { latchkey, apiId, session } = await setUp(open());
    await latchkey.createRole({ name: "admin", permissions: ["tides.admin"] });
    const owner = { apiId, externalId: "pier-7" };
    const byName = await latchkey.createKey({ ...owner, permissions: ["tides.admin"] });
    const byRole = await latchkey.createKey({ ...owner, roles: ["admin"] });
    const fine = await latchkey.createKey({ ...owner, permissions: ["tides.read"] });
    await expectRefused("FORBIDDEN", [
      session.rotateMyKey({ keyId: byName.keyId }),
      session.rotateMyKey({ keyId: byRole.keyId }),
    ]);
    await session.rotateMyKey({ keyId: fine.keyId });
    const { keys } = await session.listMyKeys({});
    expect(keys.map(({ canRotate }) => canRotate)).toEqual([false, false, true, true]);
  });

  test("a rotated key has the limits of the session", async () => {
    const { latchkey, apiId, session } = await setUp(open(), { ratelimits: [LIMIT] });
    const { keyId } = await latchkey.createKey({
      apiId,
      externalId: "pier-7",
      ratelimit: { limit: 9_000, duration: 60_000 },
    });
    const next = await session.rotateMyKey({ keyId });
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({ ratelimit: { limit: 60 } });
  });

  test("an API that is named twice counts as one, and its keys count once", async () => {
    const { latchkey, apiId } = await setUp(open());
    const allow = { apiIds: [apiId, apiId], ...ALL, maxKeys: 2 };
    const created = await latchkey.createPortalSession({ externalId: "pier-9", allow });
    const session = await opened(latchkey, created);
    expect(session.allow.apis).toEqual([{ id: apiId, name: "tide tables" }]);
    await session.createMyKey({});
    await session.createMyKey({});
    await expectRefused("PRECONDITION_FAILED", [session.createMyKey({})]);
    expect((await session.listMyKeys({})).keys).toHaveLength(2);
  });

  test.each(["its time", "its revocation", "its identity"] as const)(
    "shows nothing to a process that opened it before, once %s is over",
    async (end) => {
      const context = open();
      const { latchkey, session, sessionId, expires } = await setUp(context);
      const { keyId } = await session.createMyKey({});
      const { identityId } = session;
      if (end === "its time") context.setClock(expires);
      else if (end === "its revocation") await latchkey.revokePortalSession({ sessionId });
      else await context.another().deleteIdentity({ identityId });
      await expectRefused("UNAUTHORIZED", [
        session.listMyKeys({}),
        session.usageOfMyKey({ keyId }),
      ]);
    },
  );
});

describeOnEveryStore("portal sessions", (open) => {
  test("repeated calls with one idempotency key create or rotate a key once, in any session of the customer", async () => {
    const context = open();
    const { latchkey, apiId, session, sessionId } = await setUp(context, { maxKeys: 1 });
    const allow = { apiIds: [apiId], ...ALL, permissions: ["tides.read", "tides.write"] };
    const sessionOf = async (externalId: string) =>
      opened(context.another(), await latchkey.createPortalSession({ externalId, allow }));
    const [again, other] = [await sessionOf("pier-7"), await sessionOf("pier-8")];
    const asked = { name: "boat", idempotencyKey: "lost" };
    const { key, keyId } = await session.createMyKey(asked);
    const repeat = { keyId, secretShownBefore: true };
    expect((await latchkey.verifyKey({ key: key ?? "" })).code).toBe("VALID");
    expect(await session.createMyKey(asked)).toEqual(repeat);
    await latchkey.revokePortalSession({ sessionId });
    await expectRefused("UNAUTHORIZED", [session.createMyKey(asked)]);
    expect(await again.createMyKey(asked)).toEqual(repeat);
    expect((await other.createMyKey(asked)).keyId).not.toBe(keyId);
    await expectRefused("CONFLICT", [
      again.createMyKey({ ...asked, name: "ship" }),
      again.rotateMyKey({ keyId, idempotencyKey: "lost" }),
    ]);
    const rotation = { keyId, idempotencyKey: "rotated" };
    const rotated = await again.rotateMyKey(rotation);
    expect(await again.rotateMyKey(rotation)).toEqual({ ...repeat, keyId: rotated.keyId });
    await again.revokeMyKey({ keyId });
    await again.revokeMyKey({ keyId: rotated.keyId });
    for (let time = 0; time < 2; time += 1) {
      const { keyId: plain } = await again.createMyKey({ name: "boat", idempotencyKey: undefined });
      await again.revokeMyKey({ keyId: plain });
    }
    expect((await latchkey.listKeys({ apiId })).total).toBe(1);
  });

  test("maxKeys applies to all APIs of the session together, even for concurrent calls", async () => {
    const context = open();
    const { latchkey, apiId, otherApiId } = await setUp(context);
    const allow = { apiIds: [apiId, otherApiId], ...ALL, maxKeys: 3 };
    const created = await latchkey.createPortalSession({ externalId: "pier-8", allow });
    const sessions = await Promise.all([
      opened(latchkey, created),
      opened(context.another(), created),
    ]);
    const outcomes = await Promise.allSettled(
      [apiId, otherApiId, apiId, otherApiId, apiId, otherApiId].map((id, at) =>
        (sessions[at % 2] as PortalSession).createMyKey({ apiId: id }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    const error = await rejectionOf(sessions[0].createMyKey({ apiId }));
    expect(error).toMatchObject({ reason: "above-ceiling", details: { limit: 3 } });
    const [first] = (await latchkey.listKeys({ externalId: "pier-8" })).keys;
    const { keyId } = await sessions[1].rotateMyKey({ keyId: first?.id ?? "", graceMs: "1h" });
    await expectRefused("PRECONDITION_FAILED", [sessions[0].createMyKey({ apiId })]);
    await sessions[0].revokeMyKey({ keyId });
    await sessions[0].createMyKey({ apiId });
  });

  test("a rotated key works for at most 7 days, and there are at most maxKeys of them, even for concurrent calls", async () => {
    const context = open();
    const { latchkey, session, secret } = await setUp(context, { maxKeys: 2 });
    const sessions = [session, await opened(context.another(), { secret })];
    const WEEK_MS = 7 * DAY_MS;
    let current = await session.createMyKey({});
    await expectRefused("BAD_REQUEST", [
      session.rotateMyKey({ keyId: current.keyId, graceMs: WEEK_MS + 1 }),
      session.rotateMyKey({ keyId: current.keyId, graceMs: -1 }),
    ]);
    current = await session.rotateMyKey({ keyId: current.keyId, graceMs: WEEK_MS });
    const others = [current, await session.createMyKey({})];
    const outcomes = await Promise.allSettled(
      others.map(({ keyId }, at) => sessions[at]?.rotateMyKey({ keyId, graceMs: "1m" })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = outcomes.findIndex(({ status }) => status === "rejected");
    const { keyId = "" } = others[refused] ?? {};
    const error = await rejectionOf(session.rotateMyKey({ keyId, graceMs: 1 }));
    expect(error).toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "above-ceiling",
      details: { field: "graceMs", limit: 2 },
    });
    const next = await session.rotateMyKey({ keyId });
    context.advance(60_000);
    await session.rotateMyKey({ keyId: next.keyId, graceMs: 1 });
    // The host is not limited by it.
    const { keys } = await latchkey.listKeys({ externalId: "pier-7" });
    const last = keys.find(({ rotatedTo }) => rotatedTo === undefined);
    await latchkey.rotateKey({ keyId: last?.id ?? "", graceMs: 30 * DAY_MS });
  });

  test("ends with its expiry, its revocation and its identity, in every process at once", async () => {
    const context = open();
    const { latchkey, apiId, sessionId, secret, session, expires } = await setUp(context);
    const other = context.another();
    const allow = { apiIds: [apiId], ...ALL };
    const create = () => latchkey.createPortalSession({ externalId: "pier-7", allow, ttl: "1h" });
    const [second, third, fourth] = [await create(), await create(), await create()];
    const writing = await opened(other, second);
    expect(await latchkey.revokePortalSession({ sessionId })).toEqual({ revokedSessions: 1 });
    expect(await other.openPortalSession(secret)).toBeNull();
    await expectRefused("UNAUTHORIZED", [session.createMyKey({})]);
    await expectRefused("NOT_FOUND", [latchkey.revokePortalSession({ sessionId })]);
    context.setClock(expires - 1);
    expect(await other.openPortalSession(third.secret)).not.toBeNull();
    context.advance(HOUR_MS);
    expect(await other.openPortalSession(third.secret)).toBeNull();
    await expectRefused("UNAUTHORIZED", [writing.createMyKey({})]);
    expect(await latchkey.revokePortalSession({ externalId: "pier-7" })).toEqual({
      revokedSessions: 3,
    });
    expect(await other.openPortalSession(fourth.secret)).toBeNull();

    const fifth = await create();
    const open5 = await opened(other, fifth);
    await latchkey.deleteIdentity({ identityId: open5.identityId });
    expect(await other.openPortalSession(fifth.secret)).toBeNull();
    await expectRefused("UNAUTHORIZED", [open5.createMyKey({})]);
    // A new identity of the same name is another customer.
    const sixth = await create();
    await expectRefused("UNAUTHORIZED", [open5.createMyKey({})]);
    await latchkey.eraseIdentity({ externalId: "pier-7" });
    expect(await other.openPortalSession(sixth.secret)).toBeNull();
  });

  test("a key that gets another owner meanwhile is not changed", async () => {
    const context = open();
    const { latchkey, apiId, session } = await setUp(context);
    const other = context.another();
    for (let round = 0; round < 3; round += 1) {
      const { keyId, key } = await latchkey.createKey({ apiId, externalId: "pier-7", name: "own" });
      const acts = [
        () => session.renameMyKey({ keyId, name: "mine" }),
        () => session.rotateMyKey({ keyId }),
        () => session.revokeMyKey({ keyId }),
      ];
      const act = acts[round] as () => Promise<unknown>;
      await Promise.allSettled([other.updateKey({ keyId, externalId: "pier-9" }), act()]);
      const error = await rejectionOf(act());
      expect(error.code).toBe("NOT_FOUND");
      const { events } = await latchkey.readEvents({ limit: 100 });
      const ofKey = events.filter((event) => event.keyId === keyId);
      const isByCustomer = (event: (typeof ofKey)[number]) => event.actor !== undefined;
      const moved = ofKey.findIndex(
        (event) => event.type === "key.updated" && !isByCustomer(event),
      );
      if (moved >= 0) expect(ofKey.slice(moved).filter(isByCustomer)).toEqual([]);
      const isDeleted = ofKey.some(({ type }) => type === "key.deleted");
      expect((await latchkey.verifyKey({ key })).valid).toBe(
        moved >= 0 && !ofKey.some(({ type }) => type === "key.rotated"),
      );
      expect(isDeleted && moved >= 0).toBe(false);
    }
  });
});

describeOnMemory("portal sessions", (open) => {
  test("old ended sessions are deleted, a few with each new one", async () => {
    const context = open();
    const { latchkey, apiId } = await setUp(context);
    let storeNow = context.now();
    const { store } = context;
    const own = context.another({
      store: Object.assign(Object.create(store), { readClock: async () => storeNow }),
    });
    const create = () => own.createPortalSession({ externalId: "p", allow: { apiIds: [apiId] } });
    const sizes = async () =>
      (
        await store.page("ws_default", {
          kind: "portalSession",
          list: "portalSession",
          after: null,
          limit: 1,
        })
      ).size;
    for (let at = 0; at < 5; at += 1) await create();
    storeNow += 2 * HOUR_MS;
    await create();
    expect(await sizes()).toBe(7);
    storeNow += 1;
    await create();
    await create();
    expect(await sizes()).toBe(4);
    expect(await latchkey.isWorkspaceEnabled()).toBe(true);
  });
});
