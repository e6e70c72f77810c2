import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { createLatchkey, interceptStore, type Latchkey, type PageResult } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";

/** The longest page is one of 500 records; a few that follow may be read in the same turn. */
const MOST_IN_A_TURN = 800;

/** Latchkey on a store without I/O; `mostInATurn`: most records and pages that a call read in one turn of the event loop. */
function openWatched(): {
  readonly latchkey: Latchkey;
  readonly mostInATurn: (call: () => Promise<unknown>) => Promise<number>;
} {
  let [inThisTurn, most] = [0, 0];
  const store = interceptStore(memoryStore(), async ({ method }, run) => {
    const answer = await run();
    if (method === "page") inThisTurn += 1 + (answer as PageResult).found.length;
    most = Math.max(most, inThisTurn);
    return answer;
  });
  const mostInATurn = async (call: () => Promise<unknown>) => {
    [inThisTurn, most] = [0, 0];
    let isOver = false;
    const called = call().finally(() => {
      isOver = true;
    });
    // Also by a timer: if the machine stops the process for a millisecond, one turn runs timers twice, others' too.
    const watch = async (others: () => Promise<unknown>) => {
      while (!isOver) {
        await others();
        inThisTurn = 0;
      }
    };
    await Promise.all([watch(nextTurn), watch(() => pause(1))]);
    await called;
    return most;
  };
  return { latchkey: createLatchkey({ store, usage: false }), mostInATurn };
}

test("other calls get through while an erasure reads all keys, for their tags", async () => {
  const { latchkey, mostInATurn } = openWatched();
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  for (let from = 0; from < 1_000; from += 100)
    await latchkey.createKeys(
      Array.from({ length: 100 }, (_, at) => ({
        apiId,
        plaintext: `of another system ${from + at}`,
        tags: ["eu"],
      })),
    );
  await latchkey.createKey({ apiId, externalId: "user_1", tags: ["eu"] });
  const most = await mostInATurn(() => latchkey.eraseIdentity({ externalId: "user_1" }));
  expect(most).toBeLessThan(MOST_IN_A_TURN);
});

test("other calls get through while the keys of an owner are looked for in many APIs", async () => {
  const { latchkey, mostInATurn } = openWatched();
  for (let at = 0; at < 1_200; at += 1) await latchkey.createApi({ name: `tide tables ${at}` });
  const { apis } = await latchkey.listApis({ limit: 1 });
  const apiId = apis[0]?.id ?? "";
  await latchkey.createKey({ apiId, externalId: "user_1" });
  for (const call of [
    () => latchkey.disableKeys({ externalId: "user_1" }),
    () => latchkey.deleteKeys({ externalId: "user_1" }),
    () => latchkey.ensureApi({ name: "a new one" }),
  ])
    expect(await mostInATurn(call)).toBeLessThan(MOST_IN_A_TURN);
});
