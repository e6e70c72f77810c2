import fc from "fast-check";
import { expect, test } from "vitest";
import { LIMIT_ALGORITHMS, type LimitState } from "../rules/limit-state.js";
import {
  type AppliedCharge,
  applyCharge,
  type ChargePlan,
  type ChargeState,
  type LimitCharge,
} from "../store/charge.js";
import { fixedWindows, identityWith, limitNamed, loadedWith } from "../testing/records.js";
import { RECORD_CHECKS } from "./checks.js";
import { allChecks, type VerdictCheck } from "./dry-run.js";
import { judgeRecords, verdictOnCharge, verdictOnRefusal } from "./judge.js";
import { decideLimits } from "./limit-precedence.js";
import { effectiveUses, type LoadedKey } from "./loaded-key.js";
import { dueRefillOf, planCharge, planPeek } from "./plan.js";
import type { LimitRequest, VerifyQuestion } from "./question.js";

/** `LATCHKEY_FUZZ_RUNS=10`: ten times as many runs. */
const TIMES = Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

/** The algorithms that give units back as time passes: slots are given back by their holders. */
const TIMED = LIMIT_ALGORITHMS.filter((each) => each !== "concurrent");

const NOW = Date.UTC(2026, 2, 10, 12) + 12_345;
const MINUTE_MS = 60_000;

const refill = fc.option(
  fc.oneof(
    fc.record({
      interval: fc.constantFrom("hourly" as const, "daily" as const),
      amount: fc.integer({ min: 1, max: 4 }),
    }),
    fc.record({
      interval: fc.constant("weekly" as const),
      amount: fc.integer({ min: 1, max: 4 }),
      refillDay: fc.integer({ min: 1, max: 7 }),
    }),
    fc.record({
      interval: fc.record({ every: fc.constantFrom(MINUTE_MS, 90 * MINUTE_MS) }),
      amount: fc.integer({ min: 1, max: 4 }),
      from: fc.constantFrom(NOW - 10 * MINUTE_MS, NOW - MINUTE_MS, NOW - 1, NOW, NOW + 7),
    }),
    fc.record({
      interval: fc.constant("monthly" as const),
      amount: fc.integer({ min: 1, max: 4 }),
      refillDay: fc.integer({ min: 1, max: 31 }),
    }),
  ),
);
const usage = fc.record({
  remaining: fc.option(fc.nat({ max: 3 })),
  refilledAt: fc.constantFrom(0, NOW - 1, NOW, NOW + 40 * 86_400_000),
  lastRefillAt: fc.constant(null),
});
const figures = fc
  .record({
    limit: fc.integer({ min: 1, max: 4 }),
    algorithm: fc.constantFrom(...TIMED),
    burst: fc.integer({ min: 1, max: 4 }),
    shadow: fc.boolean(),
  })
  .map((some) => ({ ...fixedWindows(some.limit, MINUTE_MS), ...some }));
const limits = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom("default", "a", "b"), figures, fc.boolean())
    .map(([name, limit, autoApply]) => ({
      ...limitNamed(name, 1, MINUTE_MS),
      ...limit,
      autoApply: autoApply || name === "default",
    })),
  { selector: ({ name }) => name },
);
const requested: fc.Arbitrary<LimitRequest[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("default", "a", "b", "c"),
    cost: fc.nat({ max: 5 }),
    adHoc: fc.option(figures),
    isOptional: fc.constant(true),
  }),
  { selector: ({ name }) => name },
);

const setup = fc.record({
  loaded: fc
    .record({
      key: fc.record({
        enabled: fc.boolean(),
        expires: fc.option(fc.constantFrom(NOW - 1, NOW, NOW + 1)),
        refill,
        ratelimits: limits,
        usesFrom: fc.constantFrom("key" as const, "identity" as const),
      }),
      usage,
      identity: fc.option(fc.record({ refill, ratelimits: limits }).map(identityWith)),
      identityUsage: usage,
      listed: fc.boolean(),
      permissions: fc.subarray(["docs.read", "docs.write"]),
    })
    .map(({ key, listed, identity, identityUsage, ...rest }): LoadedKey => {
      const { api } = loadedWith();
      return loadedWith(key, {
        ...rest,
        identity,
        identityUsage: identity === null ? null : identityUsage,
        api: { ...api, ipWhitelist: listed ? ["192.0.2.7"] : [] },
      });
    }),
  question: fc.record({
    apiId: fc.constantFrom(null, "api_1", "api_2"),
    address: fc.constantFrom(null, "192.0.2.7", "192.0.2.8"),
    permissions: fc.constantFrom(null, "docs.read", { and: ["docs.read", "docs.write"] }),
    cost: fc.nat({ max: 5 }),
    limits: requested,
  }),
  windows: fc.array(
    fc.option(fc.record({ startedAt: fc.constantFrom(-1, 0, 1), used: fc.nat({ max: 5 }) })),
    { minLength: 12, maxLength: 12 },
  ),
});
type Setup = typeof setup extends fc.Arbitrary<infer Value> ? Value : never;

/** Stored counters for a plan. A window says how many windows lie between it and the current one. */
function stateOf({ loaded, windows }: Setup, limits: readonly LimitCharge[]): ChargeState {
  const current = NOW - (NOW % MINUTE_MS);
  return {
    usage: effectiveUses(loaded).usage,
    windows: windows.map(
      (window, index): LimitState | null =>
        window && {
          at: current + window.startedAt * MINUTE_MS,
          // Of a bucket in units × ms, and not whole units.
          used: limits[index]?.algorithm === "token-bucket" ? window.used * 50_001 : window.used,
          earlier: limits[index]?.algorithm === "sliding" ? [0, window.used, 0, 1] : [],
        },
    ),
    remembered: null,
  };
}

function chargedAt(on: Setup, plan: ChargePlan, now: number): AppliedCharge {
  const moment = { now, refill: dueRefillOf(on.loaded, now) };
  return applyCharge(stateOf(on, plan.limits), plan, moment).result as AppliedCharge;
}

function peekAt(on: Setup, question: VerifyQuestion, now: number): readonly VerdictCheck[] {
  const { limits } = decideLimits(on.loaded, question.limits);
  const plan = planPeek(on.loaded, question.cost, limits);
  const charge = chargedAt(on, plan, now);
  const peek = { limits, cost: question.cost, charge };
  return allChecks(on.loaded, question, peek, now);
}

/** The verdict that belongs to the first check that failed. */
function codeOf(checks: readonly VerdictCheck[]): string {
  const failed = checks.find(({ passed }) => !passed)?.check;
  if (failed === undefined) return "VALID";
  if (failed === "ratelimit") return "RATE_LIMITED";
  if (failed === "uses") return "USAGE_EXCEEDED";
  return RECORD_CHECKS.find(({ name }) => name === failed)?.code ?? "NOT_FOUND";
}

function verdictAt(on: Setup, now: number) {
  const refusal = judgeRecords(on.loaded, on.question, now);
  const { limits } = decideLimits(on.loaded, on.question.limits);
  const plan =
    refusal === null ? planCharge(on.loaded, on.question.cost, limits) : planPeek(on.loaded);
  const charge = chargedAt(on, plan, now);
  return refusal === null
    ? verdictOnCharge(on.loaded, plan, charge, now)
    : verdictOnRefusal(on.loaded, on.question, refusal, charge, now);
}

test("the verdict is that of the first check that failed", () => {
  fc.assert(
    fc.property(setup, (on) => {
      expect(codeOf(peekAt(on, on.question, NOW))).toBe(verdictAt(on, NOW).code);
    }),
    { numRuns: 1_000 * TIMES },
  );
});

/** A key that only limits and uses can refuse, with counters that no wrong clock has changed. */
const counted = setup
  .filter(({ loaded }) => effectiveUses(loaded).usage.refilledAt <= NOW)
  .map((on): Setup => {
    const { key, api } = on.loaded;
    return {
      ...on,
      loaded: { ...on.loaded, key: { ...key, enabled: true }, api: { ...api, ipWhitelist: [] } },
      question: { ...on.question, apiId: null, permissions: null },
    };
  });

test("after the wait in a verdict, the same verification passes, and not a millisecond earlier", () => {
  fc.assert(
    fc.property(counted, (on) => {
      const verdict = verdictAt(on, NOW);
      if (!("retryAfterMs" in verdict) || verdict.retryAfterMs === undefined) return;
      expect(verdict.retryAfterMs).toBeGreaterThanOrEqual(1);
      expect(verdictAt(on, NOW + verdict.retryAfterMs - 1).code).not.toBe("VALID");
      expect(verdictAt(on, NOW + verdict.retryAfterMs).code).toBe("VALID");
    }),
    { numRuns: 1_000 * TIMES },
  );
});

test("a verdict without a wait is valid, or waiting does not help", () => {
  const later = fc.integer({ min: 1, max: 400 * 86_400_000 });
  fc.assert(
    fc.property(counted, later, (on, waitMs) => {
      const verdict = verdictAt(on, NOW);
      if (verdict.valid) expect(verdict).not.toHaveProperty("retryAfterMs");
      else if (!("retryAfterMs" in verdict))
        expect(verdictAt(on, NOW + waitMs).code).not.toBe("VALID");
    }),
    { numRuns: 700 * TIMES },
  );
});

test("a check passes after its wait, and not a millisecond earlier", () => {
  fc.assert(
    fc.property(setup, (on) => {
      for (const [index, check] of peekAt(on, on.question, NOW).entries()) {
        if (!("retryAfterMs" in check) || check.retryAfterMs === undefined) continue;
        const at = NOW + check.retryAfterMs;
        expect(check.retryAfterMs).toBeGreaterThanOrEqual(1);
        expect(peekAt(on, on.question, at - 1)[index]?.passed).toBe(false);
        expect(peekAt(on, on.question, at)[index]?.passed).toBe(true);
      }
    }),
    { numRuns: 1_000 * TIMES },
  );
});

test("a check without a wait has passed, or waiting does not help", () => {
  const later = fc.integer({ min: 1, max: 400 * 86_400_000 });
  fc.assert(
    fc.property(setup, later, (on, waitMs) => {
      const after = peekAt(on, on.question, NOW + waitMs);
      for (const [index, check] of peekAt(on, on.question, NOW).entries()) {
        if (check.passed) expect(check).not.toHaveProperty("retryAfterMs");
        else if (!("retryAfterMs" in check)) expect(after[index]?.passed).toBe(false);
      }
    }),
    { numRuns: 700 * TIMES },
  );
});
