import { createLatchkey, interceptStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { NOON } from "./test-context.js";

const HOUR = { start: NOON, end: NOON + 3_600_000, granularity: "hour" } as const;
const WORKSPACES = 30;

/** A workspace whose three keys were used once, twice and three times, in turns with those of all others. */
interface Used {
  readonly own: Latchkey;
  readonly apiId: string;
}

describeOnEveryStore("counts of many workspaces in one process", (open) => {
  function setUp() {
    const context = open();
    const written: (string | null)[] = [];
    const away = { isAway: false };
    const store = interceptStore(context.store, async ({ method, workspaceId }, run) => {
      if (method === "addStatistics") written.push(workspaceId);
      if (method === "addStatistics" && away.isAway)
        throw new LatchkeyError("STORE_UNAVAILABLE", "away", { outcome: "not-applied" });
      return method === "close" ? undefined : run();
    });
    const latchkey = createLatchkey({
      ...{ store, clock: context.latchkey.now },
      ...{ usage: { flushMs: "1h" }, onError: () => undefined },
    });
    return { latchkey, written, away };
  }

  async function use(latchkey: Latchkey): Promise<readonly Used[]> {
    const used: Used[] = [];
    const calls: (() => Promise<unknown>)[][] = [[], [], []];
    for (let index = 0; index < WORKSPACES; index += 1) {
      const own = latchkey.workspace(`ws_${index}`);
      const { apiId } = await own.createApi({ name: "tides" });
      for (const round of calls) {
        const { key = "" } = await own.createKey({ apiId });
        round.push(() => own.verifyKey({ key }));
      }
      used.push({ own, apiId });
    }
    for (const [index, round] of calls.entries())
      for (let time = 0; time <= index; time += 1) for (const call of round) await call();
    return used;
  }

  const valid = async ({ own, apiId }: Used) => {
    const { verifications } = await own.getVerifications({ apiId, ...HOUR });
    return verifications[0]?.outcomes.VALID ?? 0;
  };

  test("who asks for those of one workspace writes no others, and waits for none", async () => {
    const { latchkey, written } = setUp();
    const used = await use(latchkey);
    expect(await valid(used[7] as Used)).toBe(6);
    expect(await valid(used[7] as Used)).toBe(6);
    expect(written).toEqual(["ws_7"]);
    const { key = "" } = await (used[7] as Used).own.createKey({ apiId: (used[7] as Used).apiId });
    await (used[7] as Used).own.verifyKey({ key });
    await latchkey.close();
    expect(written).toHaveLength(1 + WORKSPACES);
    const sums = await Promise.all(used.map(valid));
    expect(sums).toEqual(used.map((_, index) => (index === 7 ? 7 : 6)));
  });

  test("none is lost while the store is away, and each workspace takes one call", async () => {
    const { latchkey, written, away } = setUp();
    const used = await use(latchkey);
    away.isAway = true;
    for (let index = 0; index < WORKSPACES; index += 1)
      expect(await valid(used[index] as Used)).toBe(0);
    away.isAway = false;
    written.length = 0;
    await latchkey.close();
    expect(written.toSorted()).toEqual(used.map(({ own }) => own.workspaceId).toSorted());
    expect(await Promise.all(used.map(valid))).toEqual(used.map(() => 6));
  });
});
