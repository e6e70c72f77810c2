import { interceptStore, type Latchkey, type UsageRow, unavailable } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { reserve, uses } from "./reserving.js";
import { DAY_MS, HOUR_MS, issue, NOON, openContext, type TestContext } from "./test-context.js";

/** A process whose store fails at one call, before or after that is made. */
function failingAt(context: TestContext, call: number, isMade: boolean) {
  const usage = { durable: false, flushMs: "1h" } as const;
  let left = call;
  const store = interceptStore(context.store, (_, run) => {
    left -= 1;
    if (left !== -1) return run();
    const fail = () =>
      Promise.reject(unavailable("the store is down", isMade ? "unknown" : "not-applied"));
    return isMade ? Promise.resolve(run()).then(fail) : fail();
  });
  return { latchkey: context.another({ store, usage }), hasFailed: () => left < 0 };
}

/** Calls until the call resolves, as the documents say: it may be repeated. */
async function repeated<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      if (failures === 3) throw error;
    }
  }
}

/** The uses of all rows, by what they count. */
async function rowsOf({ latchkey, now }: TestContext) {
  const rows: UsageRow[] = [];
  for (const by of ["key", "identity", "api", "tag"] as const) {
    const question = { start: NOON, end: now(), granularity: "day", by } as const;
    rows.push(...(await latchkey.exportUsage(question)).rows);
  }
  return rows.map(({ keyId, identityId, apiId, tag, uses: count }) => [
    keyId ?? identityId ?? apiId ?? tag,
    count,
  ]);
}

interface Issued {
  readonly keyId: string;
}

interface ChangedKey {
  readonly title: string;
  /** What happens to the key of a reservation before another process settles it. */
  readonly change: (latchkey: Latchkey, issued: Issued) => Promise<unknown>;
  readonly isGone?: boolean;
}

const rotate = (latchkey: Latchkey, { keyId }: Issued) =>
  latchkey.rotateKey({ keyId, graceMs: "1h" });

const CHANGES: readonly ChangedKey[] = [
  { title: "nothing", change: async () => undefined },
  { title: "a rotation", change: rotate },
  {
    title: "a disabling",
    change: (latchkey, { keyId }) => latchkey.updateKey({ keyId, enabled: false }),
  },
  {
    title: "a rotation and a deletion",
    change: async (latchkey, issued) => {
      await rotate(latchkey, issued);
      await latchkey.deleteKey({ keyId: issued.keyId });
    },
    isGone: true,
  },
];

describeOnEveryStore("a reservation that another process settles", (open) => {
  test.each(CHANGES.map((each) => [each.title, each] as const))(
    "is in its rows once, whichever call of that process fails: after %s",
    async (_, { change, isGone }) => {
      const context = open({ usage: { flushMs: "1h" } });
      const { latchkey } = context;
      const wrong: unknown[] = [];
      for (const isMade of [false, true])
        for (let call = 0, isDone = false; !isDone; call += 1) {
          const externalId = `pier ${call} ${isMade}`;
          const tag = `tide-${call}-${isMade}`;
          const issued = await issue(context, { externalId, remaining: 100, tags: [tag] });
          const { key, keyId, apiId } = issued;
          const { identity } = await latchkey.getKey({ keyId });
          const reservationId = await reserve(latchkey, { key, ttl: "1h", ...uses(9) });
          await change(latchkey, issued);
          const other = failingAt(context, call, isMade);
          await repeated(() => other.latchkey.renew({ reservationId, ttl: "2h" }));
          await repeated(() => other.latchkey.settle({ reservationId, ...uses(7) }));
          await repeated(() => other.latchkey.settle({ reservationId, ...uses(7) }));
          for (let write = 0; write < 2; write += 1)
            await repeated(() => other.latchkey.getVerifications({ apiId }));
          isDone = !other.hasFailed();
          const range = { startAt: 0, endAt: NOON + DAY_MS };
          for (const [kind, id] of [
            ["key", keyId],
            ["api", apiId],
            ["tag", tag],
            ["identity", identity?.id ?? ""],
          ] as const) {
            const sums = await context.store.readStatistics("ws_default", {
              subject: { kind, id },
              ...range,
            });
            const extra = sums.filter(({ code }) => code === "EXTRA_USES");
            const count = extra.reduce((sum, each) => sum + each.count, 0);
            const expected = isGone === true && kind !== "identity" ? 0 : 7;
            if (count !== expected) wrong.push({ call, isMade, kind, count });
          }
        }
      expect(wrong).toEqual([]);
    },
  );

  test("or releases, or lets expire, adds no uses", async () => {
    const context = open({ usage: { flushMs: "1h" } });
    const { latchkey } = context;
    const { key, keyId, apiId } = await issue(context, { remaining: 100, tags: ["tide"] });
    const [released, expired] = [
      await reserve(latchkey, { key, ttl: "1h", ...uses(9) }),
      await reserve(latchkey, { key, ttl: "1h", ...uses(9) }),
    ];
    await context.another().release({ reservationId: released });
    await context.another().renew({ reservationId: expired, ttl: "2h" });
    context.advance(3 * HOUR_MS);
    expect((await context.another().getKey({ keyId })).remaining).toBe(100);
    await latchkey.getVerifications({ keyId });
    context.advance(DAY_MS);
    expect(await rowsOf(context)).toEqual([keyId, apiId, "tide"].map((id) => [id, 0]));
  });
});

test("is in its rows with a store that cannot count in the step that settles", async () => {
  const { countsInStep: _, ...store } = memoryStore();
  const context = openContext(() => store);
  const { key, apiId } = await issue(context, { remaining: 100 });
  const reservationId = await reserve(context.latchkey, { key, ...uses(9) });
  const other = context.another();
  for (let time = 0; time < 2; time += 1) await other.settle({ reservationId, ...uses(7) });
  await context.latchkey.getVerifications({ apiId });
  context.advance(2 * DAY_MS);
  expect((await rowsOf(context)).at(-1)).toEqual([apiId, 7]);
});
