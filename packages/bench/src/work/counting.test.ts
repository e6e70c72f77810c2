import { expect, test } from "vitest";
import { GUARDED, type Question, questionOf } from "../questions.js";
import type { Side } from "../sides/side.js";
import { CountedAsking } from "./counting.js";

const SECRETS = ["first", "second", "third"];
const GRANTED = GUARDED.keys.remaining ?? 0;

/** How a side may cheat. */
interface Fault {
  readonly code?: string;
  /** Uses that it takes for the n-th call about a key. */
  readonly takes?: (call: number) => number;
  readonly forgetsRequests?: boolean;
}

/** A side that counts in a map. */
function sideWith({ code = "VALID", takes = () => 1, forgetsRequests = false }: Fault): Side {
  const left = new Map<string, number>();
  const calls = new Map<string, number>();
  const remembered = new Map<string, object>();
  return {
    name: "fake",
    async verify(secret, requestId) {
      const known = remembered.get(requestId);
      if (known !== undefined && !forgetsRequests) return known;
      const call = (calls.get(secret) ?? 0) + 1;
      calls.set(secret, call);
      const remaining = (left.get(secret) ?? GRANTED) - takes(call);
      left.set(secret, remaining);
      remembered.set(requestId, { code, remaining });
      return { code, remaining };
    },
    isExpected: (verdict) => (verdict as { code: string }).code === "VALID",
    remainingOf: (verdict) => (verdict as { remaining: number }).remaining,
    keyCount: SECRETS.length,
    close: async () => undefined,
  };
}

async function measure(fault: Fault, question: Question = GUARDED): Promise<void> {
  const asking = new CountedAsking(sideWith(fault), SECRETS, question);
  await asking.contender(2).run(50);
  await asking.assertCounts();
}

test("a side that answers and counts correctly passes", async () => {
  await expect(measure({})).resolves.toBeUndefined();
  await expect(measure({}, questionOf("request-id"))).resolves.toBeUndefined();
});

test("a side that gives an unexpected verdict fails the run", async () => {
  await expect(measure({ code: "RATE_LIMITED" })).rejects.toThrow("fake should say VALID");
});

test("a side that does not count fails the run", async () => {
  await expect(measure({ takes: () => 0 })).rejects.toThrow("uses are left");
});

test("a side that loses one use of many fails the run", async () => {
  const losesOne = { takes: (call: number) => (call === 7 ? 0 : 1) };
  await expect(measure(losesOne)).rejects.toThrow("uses are left");
});

test("a side that takes one use too many fails the run", async () => {
  const takesTwice = { takes: (call: number) => (call === 7 ? 2 : 1) };
  await expect(measure(takesTwice)).rejects.toThrow("uses are left");
});

test("a side that charges for the repeat of a request fails the run", async () => {
  await expect(measure({ forgetsRequests: true }, questionOf("request-id"))).rejects.toThrow(
    "charged for the repeat",
  );
});
