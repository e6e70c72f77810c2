import { expect, test } from "vitest";
import { describeOnMemoryOrAll } from "./every-store.js";
import { DAY_MS, HOUR_MS, issue, NOON } from "./test-context.js";

const MINUTE_MS = 60_000;
/** Shortly after a Tuesday noon: no full hour, and no multiple of a span. */
const CREATED_AT = NOON + 7 * MINUTE_MS + 123;

/** Each interval, as shown, with its first two due instants after {@link CREATED_AT}. */
const INTERVALS = [
  { refill: { interval: "hourly" }, due: [NOON + HOUR_MS, NOON + 2 * HOUR_MS] },
  { refill: { interval: "daily" }, due: [NOON + DAY_MS / 2, NOON + 1.5 * DAY_MS] },
  {
    refill: { interval: "weekly", refillDay: 4 },
    due: [Date.UTC(2026, 2, 12), Date.UTC(2026, 2, 19)],
  },
  {
    refill: { interval: "monthly", refillDay: 31 },
    due: [Date.UTC(2026, 2, 31), Date.UTC(2026, 3, 30)],
  },
  {
    refill: { interval: { every: 90 * MINUTE_MS } },
    due: [CREATED_AT + 90 * MINUTE_MS, CREATED_AT + 180 * MINUTE_MS],
  },
] as const;

describeOnMemoryOrAll("a refill", (open) => {
  test("with each interval is due at its instants, for keys and identities, and a refusal says when", async () => {
    for (const { refill: rule, due } of INTERVALS) {
      const context = open();
      const { latchkey } = context;
      context.setClock(CREATED_AT);
      const refill = { ...rule, amount: 2 };
      const own = await issue(context, { remaining: 1, refill });
      await latchkey.createIdentity({ externalId: "team", remaining: 1, refill });
      const fields = { apiId: own.apiId, externalId: "team", usesFrom: "identity" } as const;
      const keys = [own, await latchkey.createKey(fields)];
      const other = context.another();
      for (const { key } of keys) await latchkey.verifyKey({ key });
      for (const dueAt of due) {
        context.setClock(dueAt - 1);
        for (const { key } of keys) {
          const refused = { code: "USAGE_EXCEEDED", retryAfterMs: 1 };
          expect(await other.verifyKey({ key })).toMatchObject(refused);
          const { checks } = await other.verifyKey({ key, dryRun: true });
          expect(checks.at(-1)).toMatchObject({ nextRefillAt: dueAt, retryAfterMs: 1 });
        }
        context.setClock(dueAt);
        for (const { key, keyId } of keys) {
          const shown = { remaining: 2, refill: { ...refill, lastRefillAt: dueAt } };
          expect(await latchkey.getKey({ keyId })).toMatchObject(shown);
          for (const remaining of [1, 0])
            expect(await other.verifyKey({ key })).toMatchObject({ code: "VALID", remaining });
        }
      }
    }
  });

  test("with a span is counted from the creation of the first key of a chain of rotations, whenever it is set", async () => {
    const context = open();
    const { latchkey } = context;
    const every = 90 * MINUTE_MS;
    const refill = { interval: { every: "90m" }, amount: 5 } as const;
    context.setClock(CREATED_AT);
    const first = await issue(context, { remaining: 1, refill });
    const plain = await issue(context, { remaining: 1 });
    context.advance(MINUTE_MS);
    const rotated = await latchkey.rotateKey({ keyId: first.keyId });
    const second = await latchkey.rotateKey({ keyId: plain.keyId });
    await latchkey.deleteKey({ keyId: plain.keyId });
    context.advance(MINUTE_MS);
    const third = await context.another().rotateKey({ keyId: second.keyId });
    await context.another().updateKey({ keyId: third.keyId, refill });
    for (const { key, keyId } of [rotated, third]) {
      await latchkey.updateRemaining({ keyId, op: "set", value: 0 });
      const waits = { retryAfterMs: every - 2 * MINUTE_MS };
      expect(await context.another().verifyKey({ key })).toMatchObject(waits);
      const shown = { interval: { every }, amount: 5 };
      expect((await latchkey.getKey({ keyId })).refill).toEqual(shown);
    }
    context.setClock(CREATED_AT + every);
    for (const { key } of [rotated, third])
      expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 4 });
  });

  test("with a span is counted from the creation in another system, without earlier due ones", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const refill = { interval: { every: HOUR_MS }, amount: 5 };
    const createdAt = NOON - 10 * DAY_MS - 20 * MINUTE_MS;
    const plaintext = "old_3f9c2a7d51e84b06";
    await latchkey.createKeys([{ apiId, plaintext, remaining: 1, refill, createdAt }]);
    expect(await latchkey.verifyKey({ key: plaintext })).toMatchObject({ remaining: 0 });
    context.setClock(NOON + 40 * MINUTE_MS - 1);
    const refused = { code: "USAGE_EXCEEDED", retryAfterMs: 1 };
    expect(await context.another().verifyKey({ key: plaintext })).toMatchObject(refused);
    context.advance(1);
    expect(await context.another().verifyKey({ key: plaintext })).toMatchObject({ remaining: 4 });
  });
});
