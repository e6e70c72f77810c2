import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countIn, increment, setUp } from "../testing/counting.js";
import { StaleReadError } from "./transaction.js";

const WORKSPACE_ID = "ws_default";

describe("racers", () => {
  test("of one process all succeed: 200 concurrent increments add up to 200", async () => {
    const { store, transact } = setUp();
    const racers = Array.from({ length: 200 }, () => transact(WORKSPACE_ID, increment));
    const results = await Promise.all(racers);
    expect(countIn(store)).toBe(200);
    expect(new Set(results.map(({ answer }) => answer)).size).toBe(200);
  });

  test("take turns from their second attempt on: none runs more than twice because of the others", async () => {
    const { store, transact } = setUp();
    await Promise.all(Array.from({ length: 50 }, () => transact(WORKSPACE_ID, increment)));
    // Each runs once, and all but the winner of the first round once more.
    expect(store.changes).toHaveLength(99);
  });

  test("that come while others take turns succeed as well", async () => {
    const { store, transact } = setUp();
    const late: Promise<unknown>[] = [];
    const early = Array.from({ length: 20 }, () =>
      transact(WORKSPACE_ID, async (transaction) => {
        const version = await increment(transaction);
        if (transaction.isRetry) late.push(transact(WORKSPACE_ID, increment));
        return version;
      }),
    );
    await Promise.all(early);
    await Promise.all(late);
    expect(late.length).toBeGreaterThanOrEqual(19);
    expect(countIn(store)).toBe(20 + late.length);
  });

  test("in different workspaces do not wait for each other", async () => {
    const { store, transact } = setUp();
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let runs = 0;
    const blocked = transact("ws_1", async (transaction) => {
      runs += 1;
      if (runs === 1) throw new StaleReadError();
      await gate;
      transaction.renewRevision();
    });
    await transact("ws_2", async (transaction) => {
      if (!transaction.isRetry) throw new StaleReadError();
      transaction.renewRevision();
    });
    expect(store.changes).toHaveLength(1);
    release();
    await blocked;
    expect(store.changes).toHaveLength(2);
  });

  test("count exactly as often as they succeed, whichever of them fail", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ fails: fc.boolean(), waits: fc.nat({ max: 3 }) }), { maxLength: 30 }),
        async (racers) => {
          const { store, transact } = setUp();
          const results = await Promise.allSettled(
            racers.map(({ fails, waits }) =>
              transact(WORKSPACE_ID, async (transaction) => {
                const version = await increment(transaction);
                for (let turn = 0; turn < waits; turn += 1) await null;
                if (fails) throw new Error("refused");
                return version;
              }),
            ),
          );
          const written = results.filter(({ status }) => status === "fulfilled");
          expect(written).toHaveLength(racers.filter(({ fails }) => !fails).length);
          expect(countIn(store)).toBe(written.length);
        },
      ),
      { numRuns: 50 },
    );
  });
});
