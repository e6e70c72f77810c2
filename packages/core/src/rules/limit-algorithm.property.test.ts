import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LAST_INSTANT } from "../time.js";
import {
  admitsAt,
  afterTaking,
  endOfGroup,
  endsAt,
  limitAt,
  mostOf,
  refillMs,
  resetAt,
  roomOf,
  takingsOf,
} from "./limit-algorithm.js";
import { LIMIT_ALGORITHMS, type LimitFigures, type LimitState } from "./limit-state.js";

/** The algorithms that give units back as time passes: slots are given back by their holders. */
const TIMED = LIMIT_ALGORITHMS.filter((each) => each !== "concurrent");

const figures = fc.record({
  algorithm: fc.constantFrom(...TIMED),
  limit: fc.integer({ min: 1, max: 30 }),
  duration: fc.integer({ min: 1, max: 200 }),
  burst: fc.integer({ min: 1, max: 40 }),
});

const start = fc.oneof(fc.nat({ max: 100 }), fc.integer({ min: 1, max: 2 ** 45 }));

const steps = fc.array(
  fc.record({
    cost: fc.nat({ max: 4 }),
    move: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 400 }), fc.integer({ min: -50, max: 0 })),
  }),
  { minLength: 1, maxLength: 40 },
);

type Steps = typeof steps extends fc.Arbitrary<infer Value> ? Value : never;

/** Takes what fits at each step. */
function stateAfter(limit: LimitFigures, from: number, taken: Steps): LimitState {
  let now = from;
  let state = limitAt(null, limit, now);
  for (const { cost, move } of taken) {
    now = Math.max(0, now + move);
    const current = limitAt(state, limit, now);
    if (cost > 0 && cost <= roomOf(current, limit)) state = afterTaking(current, limit, cost);
  }
  return state;
}

/** Empty groups at the end carry no information. */
function withoutEmptyEnd(state: LimitState): LimitState {
  const end = state.earlier.findLastIndex((count) => count > 0);
  return { ...state, earlier: state.earlier.slice(0, end + 1) };
}

describe("the charges that recreate a state", () => {
  test("recreate exactly that state, one after the other, and none is refused", () => {
    fc.assert(
      fc.property(figures, start, steps, (limit, from, taken) => {
        const before = stateAfter(limit, from, taken);
        // For a bucket, also what a lease holds.
        const isLeased = limit.algorithm === "token-bucket" && taken.length % 2 === 1;
        const state = isLeased ? afterTaking(before, { ...limit, held: 3 }, 3) : before;
        let written: LimitState | null = null;
        for (const taking of takingsOf(state, limit)) {
          const current = limitAt(written, taking.limit, taking.now);
          expect(taking.cost).toBeLessThanOrEqual(roomOf(current, taking.limit));
          written = afterTaking(current, taking.limit, taking.cost);
        }
        expect(withoutEmptyEnd(written as LimitState)).toEqual(withoutEmptyEnd(state));
      }),
      { numRuns: 300 },
    );
  });

  test("are one for a fixed window and for a bucket, and one per non-empty group for a sliding limit", () => {
    fc.assert(
      fc.property(figures, start, steps, (limit, from, taken) => {
        const state = stateAfter(limit, from, taken);
        const groups = state.earlier.filter((count) => count > 0).length;
        expect(takingsOf(state, limit)).toHaveLength(groups + 1);
      }),
    );
  });

  test("name the algorithm of the limit, and its duration where its windows or groups need it", () => {
    const state = { at: 1600, used: 2, earlier: [0, 3] };
    const most = Number.MAX_SAFE_INTEGER;
    const sliding = { algorithm: "sliding", duration: 160, limit: most, burst: 1 } as const;
    expect(takingsOf(state, sliding)).toEqual([
      { now: 1589, cost: 3, limit: sliding },
      { now: 1600, cost: 2, limit: sliding },
    ]);
    const fixed = { ...sliding, algorithm: "fixed" } as const;
    const alone = { ...state, earlier: [] };
    expect(takingsOf(alone, fixed)).toEqual([{ now: 1600, cost: 2, limit: fixed }]);
    const bucket = { algorithm: "token-bucket", duration: 1, limit: 1, burst: 2 } as const;
    expect(takingsOf(alone, { ...bucket, duration: 160 })).toEqual([
      { now: 1600, cost: 2, limit: bucket },
    ]);
  });
});

test("a lease that takes no units of a bucket holds none of it", () => {
  const bucket = {
    algorithm: "token-bucket",
    limit: 5,
    duration: 1000,
    burst: 5,
    held: 3,
  } as const;
  const full = limitAt(null, bucket, 5000);
  expect(afterTaking(full, bucket, 0)).toEqual(full);
  expect(afterTaking(full, bucket, 3).earlier).toEqual([3]);
});

describe("when a state may be forgotten", () => {
  test("from then on a limit answers as if nothing had ever been taken from it", () => {
    fc.assert(
      fc.property(figures, start, steps, fc.nat({ max: 500 }), (limit, from, taken, later) => {
        const state = stateAfter(limit, from, taken);
        const now = endsAt(limitAt(state, limit, state.at), limit) + later;
        expect(roomOf(limitAt(state, limit, now), limit)).toBe(
          roomOf(limitAt(null, limit, now), limit),
        );
      }),
    );
  });

  test.each(TIMED)("the end of a %s limit is when all of it is left", (algorithm) => {
    const limit = { algorithm, limit: 5, duration: 1000, burst: 5 };
    const state = afterTaking(limitAt(null, limit, 5000), limit, 3);
    expect(endsAt(state, limit)).toBe(resetAt(state, limit));
    expect(endsAt(state, limit)).toBeGreaterThan(5000);
  });

  test("it is never later than the last instant of a date", () => {
    const limit = { algorithm: "fixed", limit: 5, duration: 2 ** 52, burst: 5 } as const;
    const state = afterTaking(limitAt(null, limit, LAST_INSTANT), limit, 1);
    expect(endsAt({ ...state, at: LAST_INSTANT }, limit)).toBe(LAST_INSTANT);
  });
});

describe("until when units count in the same group", () => {
  test("units used at any instant until then leave the limit as if they had been taken at that instant", () => {
    const algorithm = fc.constantFrom("fixed", "sliding");
    const instants = fc.tuple(fc.nat(), fc.nat({ max: 1_000 }), fc.integer({ min: 1, max: 4 }));
    fc.assert(
      fc.property(
        figures,
        algorithm,
        start,
        steps,
        instants,
        (some, own, from, taken, [at, on, cost]) => {
          const limit = { ...some, algorithm: own };
          const current = limitAt(stateAfter(limit, from, taken), limit, from);
          const until = endOfGroup(current, limit) as number;
          const used = limitAt(current, limit, current.at + (at % (until - current.at)));
          const roomLater = (state: LimitState) =>
            roomOf(limitAt(afterTaking(state, limit, cost), limit, until + on), limit);
          expect(roomLater(current)).toBe(roomLater(used));
        },
      ),
    );
  });

  test("there is no such instant for a bucket, because units flow in all the time", () => {
    const state = limitAt(null, { algorithm: "token-bucket", duration: 5, limit: 1, burst: 1 }, 7);
    expect(endOfGroup(state, { algorithm: "token-bucket", duration: 5 })).toBe(null);
  });
});

describe("how long a limit takes to be fully available again", () => {
  test("the whole limit can be taken, and again after that time", () => {
    fc.assert(
      fc.property(figures, start, fc.nat({ max: 100 }), (limit, from, later) => {
        const taken = afterTaking(limitAt(null, limit, from), limit, mostOf(limit));
        const again = limitAt(taken, limit, from + refillMs(limit) + later);
        expect(roomOf(again, limit)).toBe(mostOf(limit));
      }),
    );
  });

  test.each([
    { algorithm: "fixed", ms: 160 },
    { algorithm: "sliding", ms: 169 },
    { algorithm: "token-bucket", ms: 240 },
  ] as const)("160 ms of a $algorithm limit take $ms ms", ({ algorithm, ms }) => {
    const limit = { algorithm, duration: 160, limit: 10, burst: 15 };
    expect(refillMs(limit)).toBe(ms);
    const from = 1600;
    const taken = afterTaking(limitAt(null, limit, from), limit, mostOf(limit));
    expect(resetAt(taken, limit)).toBeLessThanOrEqual(from + ms);
  });

  test("a token bucket counts a started millisecond as a whole one", () => {
    const bucket = { algorithm: "token-bucket", duration: 7, limit: 3, burst: 1 } as const;
    expect(refillMs(bucket)).toBe(3);
  });
});

test("a concurrent limit has its free slots as room, and assumes that held ones end after its duration", () => {
  const slots = { algorithm: "concurrent", limit: 5, duration: 2_000, burst: 5 } as const;
  const held = afterTaking(limitAt(null, slots, 1_000), slots, 3);
  expect(roomOf(held, slots)).toBe(2);
  expect([1, 2, 3, 5, 6].map((cost) => admitsAt(held, slots, cost))).toEqual([
    1_000,
    1_000,
    3_000,
    3_000,
    null,
  ]);
  expect(resetAt(held, slots)).toBe(3_000);
  expect(refillMs(slots)).toBe(2_000);
  expect(endOfGroup(held, slots)).toBeNull();
  expect(takingsOf(held, slots)).toMatchObject([{ now: 1_000, cost: 3 }]);
});
