import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_LIMIT } from "../rules/rate-limit.js";
import { applyCharge } from "../store/charge.js";
import { fixedWindows, identityWith, limitNamed, loadedWith, usageOf } from "../testing/records.js";
import { decideLimits, IDENTITY_INDEX, KEY_INDEX } from "./limit-precedence.js";
import { planCharge } from "./plan.js";
import type { LimitRequest } from "./question.js";
import { verdictOf } from "./verdict.js";

const name = fc.constantFrom("default", "a", "b", "c");
const configured = fc
  .uniqueArray(fc.tuple(name, fc.integer({ min: 1, max: 9 }), fc.constantFrom(10, 20)), {
    selector: ([of]) => of,
  })
  .map((limits) => limits.map(([of, limit, duration]) => limitNamed(of, limit, duration)));
const requested: fc.Arbitrary<LimitRequest[]> = fc.uniqueArray(
  fc.record({
    name,
    cost: fc.nat({ max: 3 }),
    adHoc: fc.option(
      fc
        .tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(10, 20))
        .map(([limit, duration]) => fixedWindows(limit, duration)),
    ),
    isOptional: fc.boolean(),
  }),
  { selector: (request) => request.name },
);
const loaded = fc
  .tuple(configured, fc.option(configured))
  .map(([own, shared]) =>
    loadedWith(
      { ratelimits: own },
      { identity: shared === null ? null : identityWith({ ratelimits: shared }) },
    ),
  );

test("no two limits of one plan take from the same window", () => {
  fc.assert(
    fc.property(loaded, requested, (key, requests) => {
      const decision = decideLimits(key, requests);
      if (decision.unknown.length > 0) return;
      const windows = decision.limits.map(({ owner, window }) => `${owner} ${window}`);
      expect(new Set(windows).size).toBe(windows.length);
    }),
    { numRuns: 500 },
  );
});

test("the limits that apply by themselves are charged if none is named", () => {
  fc.assert(
    fc.property(loaded, (key) => {
      const { ratelimits } = key.key;
      const shared = (key.identity?.ratelimits ?? []).filter(
        ({ name }) => !ratelimits.some((own) => own.name === name),
      );
      const applied = [...ratelimits, ...shared].filter(({ autoApply }) => autoApply);
      const { limits, unknown } = decideLimits(key, []);
      expect(limits.map(({ name, cost }) => [name, cost])).toEqual(
        applied.map(({ name }) => [name, 1]),
      );
      expect(unknown).toEqual([]);
    }),
  );
});

test("every named limit is charged at its cost, or is unknown, or was optional", () => {
  fc.assert(
    fc.property(loaded, requested, (key, requests) => {
      const decision = decideLimits(key, requests);
      const known = (request: LimitRequest) =>
        request.adHoc !== null ||
        [...key.key.ratelimits, ...(key.identity?.ratelimits ?? [])].some(
          (limit) => limit.name === request.name,
        );
      const unknown = requests.filter((request) => !known(request) && !request.isOptional);
      expect(decision.unknown).toEqual(unknown.map((request) => request.name));
      const charged = decision.limits.map((limit) => [limit.name, limit.cost]);
      const named = requests.filter(known).map((request) => [request.name, request.cost]);
      const isImplied = charged.length > named.length;
      expect(charged).toEqual(isImplied ? [[DEFAULT_LIMIT, 1], ...named] : named);
    }),
    { numRuns: 500 },
  );
});

test("the key's default limit is evaluated by every verification", () => {
  fc.assert(
    fc.property(loaded, requested, (key, requests) => {
      fc.pre(key.key.ratelimits.some((limit) => limit.name === DEFAULT_LIMIT));
      const decision = decideLimits(key, requests);
      if (decision.unknown.length > 0) return;
      expect(decision.limits.filter((limit) => limit.name === DEFAULT_LIMIT)).toHaveLength(1);
    }),
    { numRuns: 500 },
  );
});

test("a verdict shows one state for each limit of the plan, and leads with one of them", () => {
  fc.assert(
    fc.property(loaded, requested, fc.option(fc.nat({ max: 3 })), (key, requests, remaining) => {
      const decision = decideLimits(key, requests);
      if (decision.unknown.length > 0) return;
      const { result } = applyCharge(
        {
          usage: usageOf(remaining),
          windows: decision.limits.map(() => ({ at: 100, used: 5, earlier: [] })),
          remembered: null,
        },
        planCharge(key, 1, decision.limits),
        { now: 100, refill: null },
      );
      if (!("limits" in result)) return expect.unreachable();
      const verdict = verdictOf(key, "VALID", result, 100);
      expect(verdict.ratelimits?.map((state) => state.name) ?? []).toEqual(
        decision.limits.map((limit) => limit.name),
      );
      expect(verdict.ratelimit === undefined).toBe(decision.limits.length === 0);
      if (verdict.ratelimit !== undefined) {
        expect(verdict.ratelimits).toContainEqual(expect.objectContaining(verdict.ratelimit));
      }
      expect(Object.values(verdict)).not.toContain(undefined);
      expect(Object.values(verdict)).not.toContain(null);
    }),
    { numRuns: 500 },
  );
});

const autoApplied = fc
  .tuple(configured, fc.option(configured), fc.infiniteStream(fc.boolean()))
  .map(([own, shared, coins]) => {
    const toss = (limits: readonly ReturnType<typeof limitNamed>[]) =>
      limits.map((limit) => ({ ...limit, autoApply: coins.next().value === true }));
    const identity = shared === null ? null : identityWith({ ratelimits: toss(shared) });
    return loadedWith({ ratelimits: toss(own) }, { identity });
  });

test("each name is taken from once, whether its limits are the key's, the identity's, applied or named", () => {
  fc.assert(
    fc.property(autoApplied, requested, (key, requests) => {
      const decision = decideLimits(key, requests);
      if (decision.unknown.length > 0) return;
      const names = decision.limits.map((limit) => limit.name);
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: 500 },
  );
});

test("named limits are taken from, and those that apply by themselves: the key's, and the identity's that no key's limit hides", () => {
  fc.assert(
    fc.property(autoApplied, requested, (key, requests) => {
      const decision = decideLimits(key, requests);
      if (decision.unknown.length > 0) return;
      const own = key.key.ratelimits;
      const shared = key.identity?.ratelimits ?? [];
      const isNamed = (limits: readonly { name: string }[], name: string) =>
        limits.some((limit) => limit.name === name);
      const byItself = [
        ...own.filter(({ autoApply }) => autoApply),
        ...shared.filter(({ name, autoApply }) => autoApply && !isNamed(own, name)),
      ];
      for (const { name } of byItself) expect(isNamed(decision.limits, name)).toBe(true);
      for (const charge of decision.limits) {
        const request = requests.find(({ name }) => name === charge.name);
        expect(charge.cost).toBe(request?.cost ?? 1);
        expect(request !== undefined || isNamed(byItself, charge.name)).toBe(true);
        const configuredBy = isNamed(own, charge.name) ? KEY_INDEX : IDENTITY_INDEX;
        const isConfigured = isNamed(own, charge.name) || isNamed(shared, charge.name);
        if (!request?.adHoc || (request.isOptional && isConfigured))
          expect(charge.owner).toBe(configuredBy);
        // The workspace keeps the window of an ad hoc limit, unless it continues one of the key.
        else expect([KEY_INDEX, null]).toContain(charge.owner);
      }
    }),
    { numRuns: 500 },
  );
});
