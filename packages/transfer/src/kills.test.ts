import type { KeyStore, Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, expect, test } from "vitest";
import { copy } from "./copy.js";
import { takeBack } from "./live/take-back.js";
import { Death } from "./testing/dying-store.js";
import { latchkeyOn } from "./testing/fixture.js";

const GRANTED = 4;

/** A source that is in use: its caches are warm. */
async function aSource() {
  const store = memoryStore();
  const latchkey = latchkeyOn(store);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const counted = await latchkey.createKey({
    apiId,
    remaining: GRANTED,
    ratelimit: { limit: 100, duration: 3_600_000 },
  });
  const free = await latchkey.createKey({ apiId });
  await latchkey.rotateKey({ keyId: free.keyId, graceMs: 60_000 });
  await latchkey.limit({ identifier: "somebody", limit: 3, duration: 60_000 });
  await latchkey.verifyKey({ key: free.key });
  return { store, latchkey, counted: counted.key, free: free.key };
}

/** What a verification comes to: a verdict, or the reason for which there is none. */
async function answer(latchkey: Latchkey, key: string): Promise<string | undefined> {
  return latchkey.verifyKey({ key }).then(
    ({ code }) => code,
    (error) => error.reason,
  );
}

/** Copies until the process dies, and answers whether it lived to see the end. */
async function copyUntilDeath(from: KeyStore, to: KeyStore, live: boolean, death: Death) {
  try {
    await copy(death.store(from), death.store(to), { live });
    return true;
  } catch (error) {
    expect(death.hasCome ? "killed" : String(error)).toBe("killed");
    return false;
  } finally {
    // Nothing of it goes on afterwards.
    await new Promise(setImmediate);
  }
}

describe.each([{ live: false }, { live: true }])(
  "a copy (live: $live) that is killed",
  ({ live }) => {
    test("after any number of calls leaves one side in charge at most, and comes to its end when it is called again", async () => {
      const outcomes = new Set<string>();
      for (let calls = 0, isDone = false; !isDone; calls += 1) {
        const { store, latchkey, counted, free } = await aSource();
        const to = sqliteStore(":memory:");
        const target = latchkeyOn(to);
        isDone = await copyUntilDeath(store, to, live, new Death(calls));
        const answers = [await answer(latchkey, free), await answer(target, free)];
        outcomes.add(answers.join(", "));
        let used = (await answer(latchkey, counted)) === "VALID" ? 1 : 0;
        if (!isDone) await copy(store, to, { live });
        // Whoever still asks the source after an offline copy asks the wrong store: nothing was promised of that.
        const asked = live ? [latchkey, target] : [target];
        for (const each of asked)
          for (let time = 0; time <= GRANTED; time += 1)
            if ((await answer(each, counted)) === "VALID") used += 1;
        expect(used).toBe(GRANTED + (isDone && !live ? 1 : 0));
        expect(await answer(target, free)).toBe("VALID");
        await to.close();
      }
      expect([...outcomes].sort()).toEqual(
        live
          ? ["VALID, NOT_FOUND", "VALID, incomplete", "moved, VALID", "moved, incomplete"]
          : ["VALID, NOT_FOUND", "VALID, VALID", "VALID, incomplete"],
      );
    }, 60_000);
  },
);

test("a live copy that is killed can be taken back at any point before the target was opened", async () => {
  const outcomes = new Set<string>();
  for (let calls = 0, isDone = false; !isDone; calls += 1) {
    const { store, latchkey, free } = await aSource();
    const to = memoryStore();
    const target = latchkeyOn(to);
    isDone = await copyUntilDeath(store, to, true, new Death(calls));
    const isBack = await takeBack(store, to).then(
      () => true,
      (error) => {
        expect(error.code).toBe("PRECONDITION_FAILED");
        return false;
      },
    );
    const answers = [await answer(latchkey, free), await answer(target, free)];
    outcomes.add(`${isBack}: ${answers.join(", ")}`);
  }
  expect([...outcomes].sort()).toEqual([
    "false: moved, VALID",
    "true: VALID, NOT_FOUND",
    "true: VALID, incomplete",
  ]);
});
