import { EMPTY_CHANGE, type KeyStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { readLog } from "./noticing.js";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, rejectionOf } from "./test-context.js";
import { overtaken, wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260413);
const DAYS = Number(process.env.LATCHKEY_LAW_STEPS ?? 4);
const NEVER_MS = 3_600_000;
const TYPES = ["uses.low", "uses.gone", "limit.near"] as const;

/** A store that sometimes loses commits, or their answers. */
function failing(store: KeyStore, chance: Chance): KeyStore {
  const lost = () => new LatchkeyError("STORE_UNAVAILABLE", "lost", { outcome: "unknown" });
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      const kind = chance.below(5);
      if (kind === 0) throw lost();
      const result = await store.commit(workspaceId, change);
      if (kind === 1) throw lost();
      return result;
    },
  });
}

async function noticeSurely(latchkey: Latchkey): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1)
    if ((await latchkey.notice().catch(() => null)) !== null) return;
  throw new Error("a store failed 100 times");
}

async function typesOf(latchkey: Latchkey) {
  return (await latchkey.readEvents({ types: TYPES })).events.map(({ type }) => type);
}

describeOnEveryStore("notice of uses and limits", (open) => {
  test(`each is noticed once per refill period and per window, whichever processes see it (seed ${SEED})`, {
    timeout: 120_000,
  }, async () => {
    const notice = { usesBelow: 3, limitAbove: 0.5 };
    const context = open({ notice, usage: { flushMs: NEVER_MS } });
    const chance = chanceOf(SEED);
    const { apiId } = await context.latchkey.createApi({ name: "maps" });
    const shared = { remaining: 9, refill: { interval: "daily", amount: 9 } } as const;
    await context.latchkey.createIdentity({
      externalId: "user_1",
      ...shared,
      ratelimits: [{ name: "all", limit: 6, duration: 6 * HOUR_MS, autoApply: true }],
    });
    const settings = [
      { remaining: 5, refill: { interval: "daily", amount: 5 } },
      { ratelimit: { limit: 4, duration: HOUR_MS } },
      { externalId: "user_1", usesFrom: "identity" },
      { externalId: "user_1", remaining: 4, refill: { interval: "daily", amount: 4 } },
      { ratelimit: { limit: 4, duration: HOUR_MS, shadow: true } },
    ] as const;
    const keys = await Promise.all(
      settings.map((fields) => context.latchkey.createKey({ apiId, ...fields })),
    );
    const processes = [
      context.latchkey,
      context.another(),
      context.another({ store: failing(context.store, chance) }),
    ];
    const expected = new Set<string>();
    const verify = async () => {
      const index = chance.below(keys.length);
      const { key = "", keyId = "" } = keys[index] ?? {};
      const cost = chance.below(3);
      const at = context.now();
      const verdict = await chance.pick(processes).verifyKey({ key, remaining: { cost } });
      if (!verdict.valid) return;
      const { remaining, ratelimits = [] } = verdict;
      const owner = index === 2 ? verdict.identity?.id : keyId;
      const day = Math.floor(at / DAY_MS) * DAY_MS;
      if (remaining !== undefined && cost > 0) {
        if (remaining < 3 && remaining + cost >= 3) expected.add(`uses.low ${owner} ${day}`);
        if (remaining === 0) expected.add(`uses.gone ${owner} ${day}`);
      }
      for (const limit of ratelimits) {
        const used = limit.limit - limit.remaining;
        const half = limit.limit / 2;
        const of = limit.name === "all" ? verdict.identity?.id : keyId;
        // A limit always takes 1.
        if (index !== 4 && used > half && used - 1 <= half)
          expected.add(`limit.near ${of} ${limit.reset}`);
      }
    };
    for (let day = 0; day < DAYS; day += 1) {
      for (let hour = 0; hour < 23; hour += 3) {
        await Promise.all([verify(), verify(), verify(), verify(), verify(), verify()]);
        if (chance.below(3) === 0)
          await chance
            .pick(processes)
            .notice()
            .catch(() => undefined);
        context.advance(HOUR_MS);
      }
      // Notices are written before the next refill, because they no longer hold afterwards.
      await Promise.all(processes.map(noticeSurely));
      context.setClock((Math.floor(context.now() / DAY_MS) + 1) * DAY_MS + chance.below(HOUR_MS));
    }
    const log = await readLog(context.another());
    const noticed = log
      .filter(({ type }) => TYPES.some((one) => one === type))
      .map(({ type, resourceId, at, changes }) => {
        const reset = changes.find(({ field }) => field === "reset")?.after;
        return `${type} ${resourceId} ${reset ?? Math.floor(at / DAY_MS) * DAY_MS}`;
      });
    expect(noticed.toSorted()).toEqual([...expected].sort());
    expect(noticed.length).toBeGreaterThan(DAYS * 4);
  });

  test("B2: says nothing about an owner who is erased meanwhile", async () => {
    const context = open();
    const { latchkey, store } = context;
    const externalId = "user_1";
    const limit = { limit: 5, duration: HOUR_MS, autoApply: true };
    const ratelimits = [{ name: "nets of user 1", ...limit }];
    const { identityId } = await latchkey.createIdentity({ externalId, ratelimits });
    const own = [{ name: "boats of user 1", ...limit }];
    const { key } = await issue(context, { externalId, ratelimits: own });
    const erase = () => latchkey.eraseIdentity({ externalId });
    const noticing = context.another({ store: overtaken(store, erase), notice: {} });
    for (let count = 0; count < 5; count += 1) await noticing.verifyKey({ key });
    expect(await noticing.notice()).toEqual({ noticed: 0 });
    const { events } = await latchkey.listAuditEvents({ identityId });
    expect(events[0]?.type).toBe("identity.erased");
    expect(JSON.stringify(await latchkey.listAuditEvents())).not.toContain("of user 1");
  });

  test("names the owner of the uses or of the limit, and what is left", async () => {
    const context = open({ notice: { usesBelow: 0.4 } });
    const { latchkey, now } = context;
    const refill = { interval: "daily", amount: 5 } as const;
    const ratelimit = { limit: 5, duration: HOUR_MS };
    const fields = { remaining: 3, refill, ratelimit, externalId: "user_1" };
    const { keyId, key } = await issue(context, fields);
    const verdict = await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key });
    const { id: identityId = "" } = (verdict.valid && verdict.identity) || {};
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    await latchkey.verifyKey({ key });
    await latchkey.updateRemaining({ keyId, op: "set", value: 2 });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key });
    expect(await latchkey.notice()).toEqual({ noticed: 2 });
    const about = { workspaceId: "ws_default", resourceId: keyId, keyId, identityId, at: now() };
    const changesOf = (of: object) =>
      Object.entries(of).map(([field, after]) => ({ field, after }));
    const { events } = await latchkey.readEvents({ types: TYPES });
    expect(events).toMatchObject([
      { type: "uses.low", ...about, changes: changesOf({ remaining: 1 }) },
      { type: "uses.gone", ...about, changes: changesOf({ remaining: 0 }) },
      {
        type: "limit.near",
        ...about,
        changes: changesOf({
          name: "default",
          limit: 5,
          duration: HOUR_MS,
          remaining: 0,
          reset: now() + HOUR_MS,
        }),
      },
    ]);
  });

  test("is written with the next flush of usage if the option is given, otherwise when notice is called", async () => {
    const context = open({ usage: { flushMs: NEVER_MS } });
    const { keyId, key } = await issue(context, {
      remaining: 1,
      ratelimit: { limit: 1, duration: HOUR_MS },
    });
    const range = { start: context.now(), end: context.now() + HOUR_MS, keyId };
    const [plain, watching] = [context.another(), context.another({ notice: {} })];
    await plain.verifyKey({ key });
    await plain.getVerifications(range);
    expect(await typesOf(plain)).toEqual([]);
    expect(await plain.notice()).toEqual({ noticed: 2 });
    context.advance(HOUR_MS);
    await plain.updateRemaining({ keyId, op: "set", value: 1 });
    await watching.verifyKey({ key });
    await watching.getVerifications(range);
    expect((await typesOf(plain)).sort()).toEqual([
      "limit.near",
      "limit.near",
      "uses.gone",
      "uses.gone",
    ]);
    expect(await watching.notice()).toEqual({ noticed: 0 });
    // A window that is over no longer counts.
    context.advance(HOUR_MS);
    await plain.updateKey({ keyId, remaining: null });
    await plain.verifyKey({ key });
    context.advance(HOUR_MS);
    await plain.getVerifications(range);
    expect(await plain.notice()).toEqual({ noticed: 0 });
  });

  test("keys of a rotation share counters, and are noticed once", async () => {
    const context = open({ notice: { usesBelow: 2, expiresWithin: 1 } });
    const { latchkey } = context;
    const { keyId, key } = await issue(context, { remaining: 4 });
    const next = await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    const other = context.another();
    for (const [process, secret, added] of [
      [latchkey, key, 4],
      [other, next.key, 7],
    ] as const) {
      await process.updateRemaining({ keyId, op: "increment", value: added });
      await process.verifyKey({ key: secret, remaining: { cost: 7 } });
    }
    // Both processes have seen it.
    const noticed = [await latchkey.notice(), await other.notice()];
    expect(noticed).toEqual([{ noticed: 1 }, { noticed: 0 }]);
  });
});

describeOnMemory("notice of uses and limits", (open) => {
  test("a share is exact: 55 uses are not below 0.55 of 100, and 57 of 100 units are not above 0.57", async () => {
    const context = open({ notice: { usesBelow: 0.55, limitAbove: 0.57 } });
    const { latchkey } = context;
    const limit = 100_000_000;
    const { key } = await issue(context, {
      remaining: 100,
      refill: { interval: "daily", amount: 100 },
      ratelimit: { limit, duration: HOUR_MS },
    });
    const take = (uses: number, units: number) =>
      latchkey.verifyKey({ key, remaining: { cost: uses }, ratelimit: { cost: units } });
    await take(45, 57_000_000);
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
    await take(1, 1);
    expect(await latchkey.notice()).toEqual({ noticed: 2 });
  });

  test("uses that rise and fall again within the period are noticed once, and again after they were set", async () => {
    const context = open({ notice: { usesBelow: 3 } });
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 5 } as const;
    const { keyId, key } = await issue(context, { remaining: 5, refill });
    const reserve = () => latchkey.reserve({ key, ttl: "1m", remaining: { cost: 4 } });
    for (let round = 0; round < 3; round += 1) {
      const held = await reserve();
      if (held.valid) await latchkey.release({ reservationId: held.reservationId });
      const again = await reserve();
      expect(await latchkey.notice()).toEqual({ noticed: round === 0 ? 1 : 0 });
      if (again.valid) await latchkey.release({ reservationId: again.reservationId });
    }
    await latchkey.updateRemaining({ keyId, op: "increment", value: 5 });
    await latchkey.verifyKey({ key, remaining: { cost: 8 } });
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
    context.advance(1);
    await latchkey.updateRemaining({ keyId, op: "set", value: 5 });
    await latchkey.verifyKey({ key, remaining: { cost: 4 } });
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    context.advance(DAY_MS);
    await latchkey.verifyKey({ key, remaining: { cost: 3 } });
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
  });

  test("nothing is noticed that no longer holds, or whose record is deleted or damaged", async () => {
    const context = open({ usage: { flushMs: NEVER_MS }, notice: {} });
    const { latchkey, store } = context;
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const make = () => latchkey.createKey({ apiId, remaining: 1 });
    const [topped, deleted, damaged] = [await make(), await make(), await make()];
    for (const { key } of [topped, deleted, damaged]) await latchkey.verifyKey({ key });
    await latchkey.updateRemaining({ keyId: topped.keyId, op: "increment", value: 1 });
    await latchkey.deleteKey({ keyId: deleted.keyId });
    const { found } = await store.read("ws_default", [{ kind: "key", id: damaged.keyId }]);
    const record = { ...found[0]?.record, body: { broken: true } } as never;
    await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [{ record }] });
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
  });

  test("dry runs, refusals, costs of 0 and shadow limits cause no notice", async () => {
    const context = open({ notice: { usesBelow: 5 } });
    const { latchkey } = context;
    const { keyId, key } = await issue(context, {
      remaining: 5,
      ratelimit: { limit: 1, duration: HOUR_MS, shadow: true },
    });
    await latchkey.verifyKey({ key, remaining: { cost: 0 } });
    await latchkey.explainKey({ keyId });
    await latchkey.verifyKey({ key, remaining: { cost: 6 } });
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
    await latchkey.verifyKey({ key });
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
  });

  test("a repeated request of a key that has changed since is answered, and noticed only if it still holds", async () => {
    const context = open({ notice: {} });
    const { latchkey } = context;
    await latchkey.createIdentity({ externalId: "user_1", remaining: 1 });
    const { keyId, key } = await issue(context, {
      externalId: "user_1",
      usesFrom: "identity",
      ratelimits: [
        { name: "a", limit: 1, duration: HOUR_MS, autoApply: true },
        { name: "b", limit: 1, duration: HOUR_MS, autoApply: true },
      ],
    });
    const ask = (process = latchkey) => process.verifyKey({ key, requestId: "once" });
    expect(await ask()).toMatchObject({ valid: true });
    await latchkey.updateKey({
      keyId,
      externalId: null,
      usesFrom: "key",
      ratelimits: [{ name: "b", limit: 1, duration: HOUR_MS, autoApply: true }],
    });
    const another = context.another();
    expect(await ask(another)).toMatchObject({ valid: true });
    expect(await another.notice()).toEqual({ noticed: 0 });
    expect(await latchkey.notice()).toEqual({ noticed: 3 });
  });

  test("memory of notices is released when they are over", async () => {
    const context = open({ notice: {} });
    const { latchkey, store } = context;
    const { key } = await issue(context, { ratelimit: { limit: 1, duration: HOUR_MS } });
    const sizes: number[] = [];
    for (let hour = 0; hour < 60; hour += 1) {
      await latchkey.verifyKey({ key });
      expect(await latchkey.notice()).toEqual({ noticed: 1 });
      const page = { kind: "noticed", list: "noticed", after: null, limit: 1_000 } as const;
      sizes.push((await store.page("ws_default", page)).size);
      context.advance(HOUR_MS);
    }
    // Each may be released a day after its window.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(26);
  });

  test("with usage false, nothing is seen; with auditLog false, there is no log to write to", async () => {
    const context = open();
    const { key } = await issue(context, { remaining: 1 });
    const unseen = context.another({ usage: false, notice: {} });
    await unseen.verifyKey({ key });
    expect(await unseen.notice()).toEqual({ noticed: 0 });
    const without = context.another({ auditLog: false, notice: {} });
    expect(await rejectionOf(without.notice())).toMatchObject({ reason: "no-audit-log" });
  });

  test.each([
    [{ usesBelow: 0 }, "notice.usesBelow"],
    [{ usesBelow: 1.5 }, "notice.usesBelow"],
    [{ usesBelow: Number.NaN }, "notice.usesBelow"],
    [{ limitAbove: 1 }, "notice.limitAbove"],
    [{ limitAbove: 0 }, "notice.limitAbove"],
    [{ limitAbove: "80%" }, "notice.limitAbove"],
    [{ expiresWithin: "a week" }, "notice.expiresWithin"],
    [{ expiresWithin: 0 }, "notice.expiresWithin"],
    [{ usesbelow: 1 }, "notice.usesbelow"],
    [null, '"notice"'],
    [7, '"notice"'],
  ])("refuses the option %j", (notice, named) => {
    expect(() => open({ notice: notice as never })).toThrow(named);
  });
});
