import { expect } from "vitest";
import { DAY_MS, expectRefused, HOUR_MS, issue, NOON } from "../test-context.js";
import type { Journey } from "./journey.js";

/** getVerifications, exportUsage, pruneVerifications. */
export const STATISTICS: Journey = {
  resource: "statistics",
  title:
    "add up what every process counted, for the key, its identity and its API, until they are pruned",
  async run(context) {
    const { latchkey } = context;
    const { key, keyId, apiId } = await issue(context, { externalId: "pier-7", remaining: 4 });
    const other = await latchkey.createKey({ apiId, externalId: "pier-7" });
    const thisHour = { start: NOON, end: NOON + HOUR_MS, granularity: "hour" } as const;
    const processes = [context.another(), context.another(), context.another()];
    await Promise.all(
      processes.map(async (one) => {
        await one.verifyKey({ key });
        await one.verifyKey({ key, remaining: { cost: 9 } });
        await one.verifyKey({ key: other.key });
        // Flushes the counts before they are read.
        await one.getVerifications({ keyId, ...thisHour });
      }),
    );
    const outcomesOf = async (subject: object) => {
      const { verifications } = await latchkey.getVerifications({ ...subject, ...thisHour });
      return verifications.map(({ outcomes }) => outcomes);
    };
    expect(await outcomesOf({ keyId })).toEqual([{ VALID: 3, USAGE_EXCEEDED: 3 }]);
    expect(await outcomesOf({ keyId: other.keyId })).toEqual([{ VALID: 3 }]);
    for (const subject of [{ apiId }, { externalId: "pier-7" }])
      expect(await outcomesOf(subject)).toEqual([{ VALID: 6, USAGE_EXCEEDED: 3 }]);
    expect(await latchkey.getKey({ keyId })).toMatchObject({ lastUsedAt: NOON });
    const elsewhere = latchkey.workspace("ws_other");
    await expectRefused("NOT_FOUND", [elsewhere.getVerifications({ keyId, ...thisHour })]);

    const usage = { ...thisHour, by: "key" } as const;
    // The hour has not ended, and more counts may follow.
    expect(await latchkey.exportUsage(usage)).toEqual({ rows: [], until: NOON });
    await expectRefused("BAD_REQUEST", [latchkey.exportUsage({ ...usage, end: NOON })]);
    context.advance(2 * DAY_MS);
    const { rows, until } = await latchkey.exportUsage(usage);
    expect(until).toBe(NOON + HOUR_MS);
    expect(rows.map((row) => [row.keyId, row.uses])).toEqual(
      [keyId, other.keyId].sort().map((id) => [id, 3]),
    );
    await latchkey.verifyKey({ key });
    const before = context.now();
    await expectRefused("BAD_REQUEST", [latchkey.pruneVerifications({ before: before + 1 })]);
    expect((await latchkey.pruneVerifications({ before })).deleted).toBeGreaterThan(0);
    const { verifications } = await latchkey.getVerifications({
      keyId,
      start: NOON,
      end: before + 1,
      granularity: "day",
    });
    expect(verifications.map(({ success }) => success)).toEqual([0, 0, 1]);
    expect(await latchkey.getKey({ keyId })).toMatchObject({ lastUsedAt: before });
  },
};
