import fc from "fast-check";
import { expect, test } from "vitest";
import type { LimitState } from "../rules/limit-state.js";
import { fixedWindows, usageOf } from "../testing/records.js";
import { applyCharge, type ChargeMoment, type ChargePlan, type ChargeState } from "./charge.js";

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
  isPeek: fc.boolean(),
});
type Attempt = typeof attempt extends fc.Arbitrary<infer Value> ? Value : never;
const attempts = fc.array(attempt, { maxLength: 60 });

interface Model {
  now: number;
  usage: ChargeState["usage"];
  windows: (LimitState | null)[];
}

const newModel = (remaining: number | null): Model => ({
  now: 1_000,
  usage: usageOf(remaining),
  windows: [null, null, null],
});

/** What the store would pass to the rule for this attempt. */
function prepare(
  model: Model,
  step: Attempt,
): { state: ChargeState; plan: ChargePlan; moment: ChargeMoment } {
  const { refill } = step;
  const state = {
    usage: model.usage,
    windows: step.order.map((index) => model.windows[index] ?? null),
    remembered: null,
  };
  const plan: ChargePlan = {
    workspaceId: "ws_default",
    revision: 0,
    confirms: [{ kind: "key", id: "key_1", version: 1 }],
    mode: step.isPeek ? "peek" : "commit",
    cost: step.cost,
    uses: 0,
    limits: step.order.map((index) => ({
      owner: index === 2 ? null : 0,
      window: `${index}`,
      name: `limit${index}`,
      ...fixedWindows(step.limits[index], DURATION_MS[index]),
      cost: step.costs[index] as number,
    })),
  };
  const moment = {
    now: model.now,
    refill: refill === null ? null : { amount: refill.amount, dueAt: model.now - refill.behind },
  };
  return { state, plan, moment };
}

/** Runs the sequence as a store does, and shows every step. */
function run(
  model: Model,
  steps: readonly Attempt[],
  see: (step: Attempt, state: ChargeState, plan: ChargePlan, moment: ChargeMoment) => void,
) {
  for (const step of steps) {
    model.now += step.move;
    const { state, plan, moment } = prepare(model, step);
    see(step, state, plan, moment);
    const { next } = applyCharge(state, plan, moment);
    if (next === null) continue;
    model.usage = next.usage;
    for (const [position, index] of step.order.entries())
      model.windows[index] = next.windows[position] ?? null;
  }
}

/** The same rule in another form: takes one thing after another from a copy, and discards the copy on a refusal. */
function naiveCharge(state: ChargeState, plan: ChargePlan, { now, refill }: ChargeMoment) {
  const usage: { remaining: number | null; refilledAt: number } = { ...state.usage };
  if (refill !== null && usage.remaining !== null && refill.dueAt > usage.refilledAt) {
    if (refill.amount > usage.remaining) usage.remaining = refill.amount;
  }
  const before = usage.remaining;
  let refusal: string | null = null;
  for (const [index, limit] of plan.limits.entries()) {
    const opened = Math.floor(now / limit.duration) * limit.duration;
    const stored = state.windows[index] ?? null;
    const used = stored === null || stored.at < opened ? 0 : stored.used;
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

/** Asks about each step of random runs that begin with at most this many uses, or unlimited ones. */
function everyStep(most: number, numRuns: number, ask: Parameters<typeof run>[2]): void {
  fc.assert(
    fc.property(fc.option(fc.nat({ max: most })), attempts, (remaining, steps) => {
      run(newModel(remaining), steps, ask);
    }),
    { numRuns },
  );
}

test("every step answers as taking one thing after another and undoing all on a refusal does", () => {
  everyStep(12, 300, (_, state, plan, moment) => {
    expect(applyCharge(state, plan, moment).result).toMatchObject(naiveCharge(state, plan, moment));
  });
});

test("what is admitted in one window of one limit never adds up to more than the limit, however the clock moves", () => {
  fc.assert(
    fc.property(
      attempts,
      fc.tuple(...[1, 2, 3].map(() => fc.integer({ min: 1, max: 9 }))),
      (steps, limits) => {
        const model = newModel(null);
        const admitted = new Map<string, number>();
        const fixed = steps.map((step) => ({
          ...step,
          limits: limits as [number, number, number],
        }));
        run(model, fixed, (step, state, plan, moment) => {
          const { next } = applyCharge(state, plan, moment);
          if (next === null) return;
          for (const [position, index] of step.order.entries()) {
            const cost = step.costs[index] as number;
            if (cost === 0) continue;
            const name = `${index}@${next.windows[position]?.at}`;
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
      const model = newModel(initially);
      let granted = initially;
      let spent = 0;
      run(model, steps, (_, state, plan, moment) => {
        const { next } = applyCharge(state, plan, moment);
        if (next === null) return;
        const { refill } = moment;
        const isOwed = refill !== null && refill.dueAt > state.usage.refilledAt;
        if (isOwed) granted += Math.max(0, (refill?.amount ?? 0) - (state.usage.remaining ?? 0));
        spent += plan.cost;
        expect(spent + (next.usage.remaining ?? 0)).toBe(granted);
        expect(next.usage.remaining).toBeGreaterThanOrEqual(0);
      });
      expect(spent + (model.usage.remaining ?? 0)).toBe(granted);
    }),
    { numRuns: 300 },
  );
});

test("nothing is written by a peek or by a refusal", () => {
  everyStep(5, 200, (step, state, plan, moment) => {
    const { result, next } = applyCharge(state, plan, moment);
    if (step.isPeek || result.kind !== "charged") expect(next).toBeNull();
  });
});

test("a charge that writes nothing would have written the same state again", () => {
  everyStep(5, 200, (_, state, plan, moment) => {
    const { result, next } = applyCharge(state, plan, moment);
    if (result.kind !== "charged" || next !== null || plan.mode === "peek") return;
    expect(result.remaining).toBe(state.usage.remaining);
    expect(plan.limits.every(({ cost }) => cost === 0)).toBe(true);
  });
});

test("no window and no refill ever goes back", () => {
  everyStep(12, 200, (_, state, plan, moment) => {
    const { next } = applyCharge(state, plan, moment);
    if (next === null) return;
    expect(next.usage.refilledAt).toBeGreaterThanOrEqual(state.usage.refilledAt);
    for (const [index, after] of next.windows.entries()) {
      const before = state.windows[index] ?? null;
      if (before !== null) expect(after?.at).toBeGreaterThanOrEqual(before.at);
    }
  });
});

test("a peek returns what a charge would return", () => {
  everyStep(5, 100, (_, state, plan, moment) => {
    const peek = applyCharge(state, { ...plan, mode: "peek" }, moment);
    const charge = applyCharge(state, { ...plan, mode: "commit" }, moment);
    expect(peek.result).toEqual(charge.result);
  });
});

test("with a request id every attempt may be sent any number of times: it is charged once, with the same answer each time", () => {
  everyStep(12, 200, (_, state, plan, moment) => {
    const request = { id: "r", fingerprint: "f", rememberUntil: moment.now + 100 };
    const first = applyCharge(state, plan, { ...moment, request });
    expect(first.result).toEqual(applyCharge(state, plan, moment).result);
    if (first.next === null) return;
    const { usage, windows, remember } = first.next;
    const after = { ...state, usage, windows, remembered: remember };
    const again = applyCharge(after, plan, { ...moment, now: moment.now + 99, request });
    expect(again).toEqual({ result: { ...first.result, isRepeat: true }, next: null });
    const other = { ...request, fingerprint: "g" };
    expect(applyCharge(after, plan, { ...moment, request: other }).result).toEqual({
      kind: "conflict",
    });
  });
});
