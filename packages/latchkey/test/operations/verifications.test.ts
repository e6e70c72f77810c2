import { describe, expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";
import { unclosed } from "../wrapped-store.js";

describeOnMemory("usage", (open) => {
  const bucket = (time: number, outcomes: Readonly<Record<string, number>>) => ({
    time,
    success: outcomes.VALID ?? 0,
    rateLimited: outcomes.RATE_LIMITED ?? 0,
    usageExceeded: outcomes.USAGE_EXCEEDED ?? 0,
    outcomes,
  });
  const thisHour = { start: NOON, end: NOON + HOUR_MS, granularity: "hour" } as const;

  test("counts verifications by verdict, for the key, its identity and its API", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId, apiId } = await issue(context, {
      externalId: "pier-7",
      remaining: 3,
      ratelimit: { limit: 4, duration: HOUR_MS },
    });
    const other = await latchkey.createKey({ apiId, externalId: "pier-7" });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key, remaining: { cost: 2 } });
    await latchkey.verifyKey({ key, ratelimit: { cost: 5 } });
    await latchkey.verifyKey({ key, apiId: "api_other" });
    await latchkey.verifyKey({ key: other.key });
    await latchkey.verifyKey({ key: "no such key" });
    const ofKey = { VALID: 2, USAGE_EXCEEDED: 1, RATE_LIMITED: 1, FORBIDDEN: 1 };
    const ofAll = { ...ofKey, VALID: 3 };
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
    const usageOf = async (subject: object) =>
      (await latchkey.getVerifications({ ...subject, ...thisHour })).verifications;
    expect(await usageOf({ keyId })).toEqual([bucket(NOON, ofKey)]);
    expect(await usageOf({ keyId: other.keyId })).toEqual([bucket(NOON, { VALID: 1 })]);
    expect(await usageOf({ apiId })).toEqual([bucket(NOON, ofAll)]);
    expect(await usageOf({ identityId })).toEqual([bucket(NOON, ofAll)]);
    expect(await usageOf({ externalId: "pier-7" })).toEqual([bucket(NOON, ofAll)]);
    expect(await usageOf({ ownerId: "pier-7" })).toEqual([bucket(NOON, ofAll)]);
  });

  test("comes in whole buckets of an hour, a day or a month, including empty ones", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context);
    for (const at of [NOON - 1, NOON, NOON + 2 * HOUR_MS, NOON + DAY_MS, Date.UTC(2026, 3, 2)]) {
      context.setClock(at);
      await context
        .another()
        .verifyKey({ key })
        .then(() => undefined);
      const again = context.another();
      await again.verifyKey({ key });
      await again.getVerifications({ keyId, ...thisHour });
    }
    const usageOf = async (start: number, end: number, granularity: "hour" | "day" | "month") =>
      (await latchkey.getVerifications({ keyId, start, end, granularity })).verifications.map(
        ({ time, success }) => [new Date(time).toISOString().slice(0, 13), success],
      );
    expect(await usageOf(NOON + 1, NOON + 2 * HOUR_MS + 1, "hour")).toEqual([
      ["2026-03-10T12", 1],
      ["2026-03-10T13", 0],
      ["2026-03-10T14", 1],
    ]);
    expect(await usageOf(NOON, NOON + DAY_MS, "day")).toEqual([
      ["2026-03-10T00", 3],
      ["2026-03-11T00", 1],
    ]);
    expect(await usageOf(NOON, Date.UTC(2026, 3, 2), "month")).toEqual([
      ["2026-03-01T00", 4],
      ["2026-04-01T00", 1],
    ]);
  });

  test("is by day unless another granularity is given", async () => {
    const context = open();
    const { keyId } = await issue(context);
    const { verifications } = await context.latchkey.getVerifications({
      keyId,
      start: NOON,
      end: NOON + 1,
    });
    expect(verifications.map(({ time }) => time)).toEqual([NOON - DAY_MS / 2]);
  });

  test("adds up over processes", async () => {
    const context = open();
    const { key, keyId } = await issue(context);
    const processes = Array.from({ length: 4 }, () => context.another());
    await Promise.all(
      processes.map(async (latchkey, index) => {
        for (let count = 0; count <= index; count += 1) await latchkey.verifyKey({ key });
        await latchkey.getVerifications({ keyId, ...thisHour });
      }),
    );
    const { verifications } = await context.latchkey.getVerifications({ keyId, ...thisHour });
    expect(verifications).toEqual([bucket(NOON, { VALID: 10 })]);
  });

  test("is in the store once the latchkey is closed", async () => {
    const context = open();
    const { key, keyId } = await issue(context);
    const closing = context.another({ store: unclosed(context.store) });
    await closing.verifyKey({ key });
    expect(await context.latchkey.getKey({ keyId })).not.toHaveProperty("lastUsedAt");
    await closing.close();
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ lastUsedAt: NOON });
    const { verifications } = await context.latchkey.getVerifications({ keyId, ...thisHour });
    expect(verifications).toEqual([bucket(NOON, { VALID: 1 })]);
  });

  test("includes the last use of a key: the latest valid verification, never an earlier one", async () => {
    const context = open();
    const { key, keyId, apiId } = await issue(context, { remaining: 2 });
    const lastUsedAt = async (latchkey = context.latchkey) => {
      await latchkey.getVerifications({ keyId, ...thisHour });
      return (await context.latchkey.getKey({ keyId })).lastUsedAt;
    };
    expect(await lastUsedAt()).toBeUndefined();
    const behind = context.another();
    await behind.verifyKey({ key });
    context.advance(1_000);
    await context.latchkey.verifyKey({ key });
    expect(await lastUsedAt()).toBe(NOON + 1_000);
    expect(await lastUsedAt(behind)).toBe(NOON + 1_000);
    context.advance(1_000);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "USAGE_EXCEEDED" });
    expect(await lastUsedAt()).toBe(NOON + 1_000);
    const { keys } = await context.latchkey.listKeys({ apiId });
    expect(keys).toMatchObject([{ lastUsedAt: NOON + 1_000 }]);
  });

  test("is not counted if it is turned off", async () => {
    const context = open({ usage: false });
    const { key, keyId } = await issue(context);
    await context.latchkey.verifyKey({ key });
    const { verifications } = await context.latchkey.getVerifications({ keyId, ...thisHour });
    expect(verifications).toEqual([bucket(NOON, {})]);
    expect(await context.latchkey.getKey({ keyId })).not.toHaveProperty("lastUsedAt");
  });

  test("of a key that moves to another identity stays with the identity of each verification", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { externalId: "pier-7" });
    await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId, externalId: "pier-8" });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key });
    const of = async (externalId: string) =>
      (await latchkey.getVerifications({ externalId, ...thisHour })).verifications;
    expect(await of("pier-7")).toEqual([bucket(NOON, { VALID: 1 })]);
    expect(await of("pier-8")).toEqual([bucket(NOON, { VALID: 2 })]);
  });

  test("of a record outside of this workspace is NOT_FOUND", async () => {
    const context = open();
    const { keyId, apiId } = await issue(context, { externalId: "pier-7" });
    const { id: identityId } = await context.latchkey.getIdentity({ externalId: "pier-7" });
    for (const subject of [{ keyId }, { apiId }, { identityId }, { externalId: "pier-7" }]) {
      const call = context.latchkey.workspace("ws_2").getVerifications({ ...subject, ...thisHour });
      expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND" });
    }
    await context.latchkey.deleteKey({ keyId });
    const call = context.latchkey.getVerifications({ keyId, ...thisHour });
    expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND", message: "no such key" });
  });

  test.each([{}, { keyId: "key_1", apiId: "api_1" }, { apiId: "api_1", externalId: "pier-7" }])(
    "needs exactly one subject, not %o",
    async (subject) => {
      const { latchkey } = open();
      const error = await rejectionOf(latchkey.getVerifications({ ...subject, ...thisHour }));
      expect(error).toMatchObject({
        code: "BAD_REQUEST",
        message: "exactly one of keyId, identityId (or externalId) and apiId must be given",
      });
    },
  );

  test.each([
    { granularity: "hour", end: NOON + 31 * DAY_MS, bound: "31 days" },
    { granularity: "day", end: NOON + 366 * DAY_MS, bound: "366 days" },
    { granularity: "month", end: Date.UTC(2036, 2, 10, 12), bound: "120 months" },
  ] as const)("by $granularity covers at most $bound", async ({ granularity, end, bound }) => {
    const context = open();
    const { keyId } = await issue(context);
    const usageOf = (more: number) =>
      context.latchkey.getVerifications({ keyId, start: NOON, end: end + more, granularity });
    expect((await usageOf(-1)).verifications.length).toBeGreaterThan(0);
    expect((await usageOf(0)).verifications.length).toBeGreaterThan(0);
    const error = await rejectionOf(usageOf(1));
    expect(error.issues).toEqual([{ path: "end", message: expect.stringContaining(bound) }]);
  });

  test.each([-1, 0, 1])("of a range that ends %d ms after its start", async (length) => {
    const context = open();
    const { keyId } = await issue(context);
    const call = context.latchkey.getVerifications({ keyId, start: NOON, end: NOON + length });
    const outcome = await call.catch((error) => error);
    expect(outcome.code).toBe(length < 1 ? "BAD_REQUEST" : undefined);
  });

  describe("pruning", () => {
    test("deletes the counters of past days, and keeps the last use of keys", async () => {
      const context = open();
      const { key, keyId } = await issue(context);
      const midnight = NOON + DAY_MS / 2;
      for (const at of [midnight - 1, midnight]) {
        context.setClock(at);
        const latchkey = context.another();
        await latchkey.verifyKey({ key });
        await latchkey.getVerifications({ keyId, ...thisHour });
      }
      context.setClock(midnight + DAY_MS - 1);
      expect(await context.latchkey.pruneVerifications({ before: context.now() })).toEqual({
        deleted: 2,
      });
      const { verifications } = await context.latchkey.getVerifications({
        keyId,
        start: NOON,
        end: midnight + 1,
      });
      expect(verifications.map(({ success }) => success)).toEqual([0, 1]);
      expect(await context.latchkey.getKey({ keyId })).toMatchObject({ lastUsedAt: midnight });
    });

    test.each([
      { ahead: -1, code: undefined },
      { ahead: 0, code: undefined },
      { ahead: 1, code: "BAD_REQUEST" },
    ])("accepts an instant up to now: $ahead ms ahead of it, $code", async ({ ahead, code }) => {
      const { latchkey } = open();
      const call = latchkey.pruneVerifications({ before: NOON + ahead });
      const outcome = await call.catch((error) => error);
      expect(outcome.code).toBe(code);
    });

    test("affects no other workspace", async () => {
      const context = open();
      const { key, keyId } = await issue(context);
      await context.latchkey.verifyKey({ key });
      await context.latchkey.getVerifications({ keyId, ...thisHour });
      context.advance(2 * DAY_MS);
      const other = context.latchkey.workspace("ws_2");
      expect(await other.pruneVerifications({ before: context.now() })).toEqual({ deleted: 0 });
      expect(await context.latchkey.pruneVerifications({ before: context.now() })).toEqual({
        deleted: 2,
      });
    });
  });
});
