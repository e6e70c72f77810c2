import { interceptStore, type Latchkey, unavailable } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { counting } from "./keys-in-use.js";
import { HOUR_MS, issue, type TestContext } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

/** A process with leases whose store fails at one call, before or after that is made. */
function failingAt(context: TestContext, call: number, isMade: boolean) {
  let left = call;
  let isCalm = false;
  const store = interceptStore(unclosed(context.store), (_, run) => {
    if (isCalm) return run();
    left -= 1;
    if (left !== -1) return run();
    const fail = () =>
      Promise.reject(unavailable("the store is down", isMade ? "unknown" : "not-applied"));
    return isMade ? Promise.resolve(run()).then(fail) : fail();
  });
  return {
    latchkey: context.another({ store }),
    hasFailed: () => left < 0,
    calm: () => {
      isCalm = true;
    },
  };
}

interface MadeChange {
  readonly title: string;
  /** Made by one process while it, and another one, hold units. */
  readonly change: (latchkey: Latchkey, keyId: string) => Promise<unknown>;
  readonly grants?: number;
}

const CHANGES: readonly MadeChange[] = [
  { title: "nothing", change: async () => undefined },
  {
    title: "endLeases, twice",
    change: (latchkey) => Promise.all([latchkey.endLeases(), latchkey.endLeases()]),
  },
  { title: "resetLimit", change: (latchkey, keyId) => latchkey.resetLimit({ keyId }) },
  {
    title: "rotateKey",
    change: (latchkey, keyId) => latchkey.rotateKey({ keyId, graceMs: HOUR_MS }),
  },
  {
    title: "updateRemaining",
    change: (latchkey, keyId) => latchkey.updateRemaining({ keyId, op: "increment", value: 500 }),
    grants: 500,
  },
  { title: "disableKeys", change: (latchkey, keyId) => latchkey.disableKeys({ keyIds: [keyId] }) },
];

describeOnEveryStore("a process with leases whose store fails once", (open) => {
  test.each(CHANGES.map((each) => [each.title, each] as const))(
    "admits and counts what was granted, and no more: %s",
    async (_, { change, grants = 0 }) => {
      const { onEvent, leased } = counting();
      const context = open({ leases: { ms: 30, share: 0.3 }, onEvent, usage: { flushMs: "1h" } });
      const wrong: unknown[] = [];
      const plain = context.another({ leases: undefined });
      for (const isMade of [false, true])
        for (let call = 0, isDone = false; !isDone && call < 60; call += 1 + Math.floor(call / 3)) {
          const { key, keyId, apiId } = await issue(context, {
            remaining: 1_000,
            ratelimit: { limit: 5_000, duration: HOUR_MS },
          });
          const failing = failingAt(context, call, isMade);
          const other = context.another({ store: unclosed(context.store) });
          let admitted = 0;
          let unknown = 0;
          const verify = async (by: Latchkey) => {
            try {
              if ((await by.verifyKey({ key })).valid) admitted += 1;
            } catch {
              unknown += 1;
            }
          };
          const use = async () => {
            for (let time = 0; time < 12; time += 1) {
              await verify(failing.latchkey);
              await verify(other);
            }
          };
          await use();
          let isChanged = true;
          await change(failing.latchkey, keyId).catch(() => {
            isChanged = false;
          });
          await use();
          isDone = !failing.hasFailed();
          failing.calm();
          await failing.latchkey.close();
          await other.close();
          const { remaining = 0, reserved = 0 } = await plain.getKey({ keyId });
          const { verifications } = await plain.getVerifications({ apiId, granularity: "day" });
          const counted = verifications.reduce(
            (sum, { outcomes }) => sum + (outcomes.VALID ?? 0),
            0,
          );
          const taken = 1_000 + (isChanged ? grants : 0) - remaining;
          const isTaken = [0, ...(isChanged ? [] : [-grants])].some(
            (granted) => taken - granted >= admitted && taken - granted <= admitted + unknown,
          );
          if (!isTaken || reserved > 0 || counted !== admitted)
            wrong.push({ call, isMade, admitted, unknown, taken, reserved, counted });
        }
      expect(wrong).toEqual([]);
      expect(leased()).toBeGreaterThan(0);
    },
  );
});
