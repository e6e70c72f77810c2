import fc from "fast-check";
import { expect, test } from "vitest";
import type { RateWindow } from "../rules/rate-limit.js";
import { applyCharge, type ChargePlan, type ChargeState } from "./charge.js";

const DURATION_MS = [10, 25, 40];

/** One verification of a random sequence over one key with three limits, as little as the plan needs. */
const attempt = fc.record({
  move: fc.integer({ min: -8, max: 15 }),
  cost: fc.integer({ min: 0, max: 4 }),
  costs: fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.nat({ max: 3 })),
  limits: fc.tuple(
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 9 }),
  ),
  order: fc.shuffledSubarray([0, 1, 2]),
  refill: fc.option(
    fc.record({ amount: fc.integer({ min: 1, max: 8 }), behind: fc.nat({ max: 30 }) }),
    { freq: 3 },
  ),
  isLook: fc.boolean(),
  isStale: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
});
type Attempt = typeof attempt extends fc.Arbitrary<infer Value> ? Value : never;
const attempts = fc.array(attempt, { maxLength: 60 });

interface World {
  now: number;
  usage: ChargeState["usage"];
  windows: (RateWindow | null)[];
}

const newWorld = (remaining: number | null): World => ({
  now: 1_000,
  usage: { remaining, refilledAt: 0 },
  windows: [null, null, null],
});

/** What the store would hand to the rule for this attempt. */
function prepare(world: World, step: Attempt): { state: ChargeState; plan: ChargePlan } {
  const { refill } = step;
  const state = {
    keyVersion: step.isStale ? 2 : 1,
    identityVersion: null,
    epoch: 0,
    usage: world.usage,
    windows: step.order.map((index) => world.windows[index] ?? null),
  };
  const plan: ChargePlan = {
    workspaceId: "ws_default",
    keyId: "key_1",
    identityId: null,
    sharedCountersId: null,
    usesFrom: "key",
    now: world.now,
    expects: { keyVersion: 1, identityVersion: null, epoch: 0 },
    mode: step.isLook ? "look" : "take",
    cost: step.cost,
    refill: refill === null ? null : { amount: refill.amount, dueAt: world.now - refill.behind },
    limits: step.order.map((index) => ({
      owner: index === 2 ? ("identity" as const) : ("key" as const),
      isConfigured: true,
      name: `limit${index}`,
      limit: step.limits[index] as number,
      duration: DURATION_MS[index] as number,
      cost: step.costs[index] as number,
    })),
  };
  return { state, plan };
}

/** Runs the sequence as a store does, and shows every step. */
function run(
  world: World,
  steps: readonly Attempt[],
  see: (step: Attempt, plan: ChargePlan, state: ChargeState) => void,
) {
  for (const step of steps) {
    world.now += step.move;
    const { state, plan } = prepare(world, step);
    see(step, plan, state);
    const { next } = applyCharge(state, plan);
    if (next === null) continue;
    world.usage = next.usage;
    for (const [place, index] of step.order.entries())
      world.windows[index] = next.windows[place] ?? null;
  }
}

/** The same rule in another shape: take one thing after another from a copy, and throw the copy away on a refusal. */
function naiveCharge(state: ChargeState, plan: ChargePlan) {
  if (state.keyVersion !== plan.expects.keyVersion) return { kind: "stale" };
  const usage: { remaining: number | null; refilledAt: number } = { ...state.usage };
  if (plan.refill !== null && usage.remaining !== null && plan.refill.dueAt > usage.refilledAt) {
    if (plan.refill.amount > usage.remaining) usage.remaining = plan.refill.amount;
  }
  const before = usage.remaining;
  let refusal: string | null = null;
  for (const [index, limit] of plan.limits.entries()) {
    const opened = Math.floor(plan.now / limit.duration) * limit.duration;
    const stored = state.windows[index] ?? null;
    const used = stored === null || stored.startedAt < opened ? 0 : stored.used;
    if (used + limit.cost > limit.limit) refusal = "rate-limited";
  }
  if (usage.remaining !== null) {
    if (usage.remaining === 0 || plan.cost > usage.remaining) refusal ??= "usage-exceeded";
    else usage.remaining -= plan.cost;
  }
  return refusal === null
    ? { kind: "charged", remaining: usage.remaining }
    : { kind: refusal, remaining: before };
}

test("every step answers as taking one thing after another and undoing all on a refusal does", () => {
  fc.assert(
    fc.property(fc.option(fc.nat({ max: 12 })), attempts, (remaining, steps) => {
      run(newWorld(remaining), steps, (_, plan, state) => {
        expect(applyCharge(state, plan).result).toMatchObject(naiveCharge(state, plan));
      });
    }),
    { numRuns: 300 },
  );
});

test("what is admitted in one window of one limit never adds up to more than the limit, however the clock moves", () => {
  fc.assert(
    fc.property(
      attempts,
      fc.tuple(...[1, 2, 3].map(() => fc.integer({ min: 1, max: 9 }))),
      (steps, limits) => {
        const world = newWorld(null);
        const admitted = new Map<string, number>();
        const fixed = steps.map((step) => ({
          ...step,
          limits: limits as [number, number, number],
        }));
        run(world, fixed, (step, plan, state) => {
          const { next } = applyCharge(state, plan);
          if (next === null) return;
          for (const [place, index] of step.order.entries()) {
            const cost = step.costs[index] as number;
            if (cost === 0) continue;
            const name = `${index}@${next.windows[place]?.startedAt}`;
            const total = (admitted.get(name) ?? 0) + cost;
            admitted.set(name, total);
            expect(total).toBeLessThanOrEqual(limits[index] as number);
          }
        });
      },
    ),
    { numRuns: 300 },
  );
});

test("uses spent and uses left always add up to uses granted, refills among them", () => {
  fc.assert(
    fc.property(fc.nat({ max: 12 }), attempts, (initially, steps) => {
      const world = newWorld(initially);
      let granted = initially;
      let spent = 0;
      run(world, steps, (_, plan, state) => {
        const { next } = applyCharge(state, plan);
        if (next === null) return;
        const isOwed = plan.refill !== null && plan.refill.dueAt > state.usage.refilledAt;
        if (isOwed)
          granted += Math.max(0, (plan.refill?.amount ?? 0) - (state.usage.remaining ?? 0));
        spent += plan.cost;
        expect(spent + (next.usage.remaining ?? 0)).toBe(granted);
        expect(next.usage.remaining).toBeGreaterThanOrEqual(0);
      });
      expect(spent + (world.usage.remaining ?? 0)).toBe(granted);
    }),
    { numRuns: 300 },
  );
});

test("nothing is written by a look, by a refusal or on moved records", () => {
  fc.assert(
    fc.property(fc.option(fc.nat({ max: 5 })), attempts, (remaining, steps) => {
      run(newWorld(remaining), steps, (step, plan, state) => {
        const { result, next } = applyCharge(state, plan);
        if (step.isLook || result.kind !== "charged") expect(next).toBeNull();
        expect(result.kind === "stale").toBe(step.isStale);
      });
    }),
    { numRuns: 200 },
  );
});

test("a take that writes nothing would have written the same state again", () => {
  fc.assert(
    fc.property(fc.option(fc.nat({ max: 5 })), attempts, (remaining, steps) => {
      run(newWorld(remaining), steps, (_, plan, state) => {
        const { result, next } = applyCharge(state, plan);
        if (result.kind !== "charged" || next !== null || plan.mode === "look") return;
        expect(result.remaining).toBe(state.usage.remaining);
        expect(plan.limits.every(({ cost }) => cost === 0)).toBe(true);
      });
    }),
    { numRuns: 200 },
  );
});

test("no window and no settled refill ever goes back", () => {
  fc.assert(
    fc.property(fc.option(fc.nat({ max: 12 })), attempts, (remaining, steps) => {
      run(newWorld(remaining), steps, (_, plan, state) => {
        const { next } = applyCharge(state, plan);
        if (next === null) return;
        expect(next.usage.refilledAt).toBeGreaterThanOrEqual(state.usage.refilledAt);
        for (const [place, after] of next.windows.entries()) {
          const before = state.windows[place] ?? null;
          if (before !== null) expect(after?.startedAt).toBeGreaterThanOrEqual(before.startedAt);
        }
      });
    }),
    { numRuns: 200 },
  );
});

test("a look answers what a take would answer", () => {
  fc.assert(
    fc.property(fc.option(fc.nat({ max: 5 })), attempts, (remaining, steps) => {
      run(newWorld(remaining), steps, (_, plan, state) => {
        const look = applyCharge(state, { ...plan, mode: "look" });
        expect(look.result).toEqual(applyCharge(state, { ...plan, mode: "take" }).result);
      });
    }),
    { numRuns: 100 },
  );
});

test("with a request id every attempt may be sent any number of times: it is charged once, and answered alike", () => {
  fc.assert(
    fc.property(fc.option(fc.nat({ max: 12 })), attempts, (remaining, steps) => {
      run(newWorld(remaining), steps, (_, plan, state) => {
        const request = { id: "r", fingerprint: "f", rememberUntil: plan.now + 100 };
        const first = applyCharge(state, { ...plan, request });
        expect(first.result).toEqual(applyCharge(state, plan).result);
        if (first.next === null) return;
        const { usage, windows, remember } = first.next;
        const after = { ...state, usage, windows, remembered: remember };
        const again = applyCharge(after, { ...plan, now: plan.now + 99, request });
        expect(again).toEqual({ result: first.result, next: null });
        const other = { ...request, fingerprint: "g" };
        expect(applyCharge(after, { ...plan, request: other }).result).toEqual({
          kind: "conflict",
        });
      });
    }),
    { numRuns: 200 },
  );
});
