import fc from "fast-check";
import { expect, test } from "vitest";
import { decideUpdate, type KeyStateFields, keyState, type LifecycleUpdate } from "./lifecycle.js";

// Few instants and counts, so that boundaries are met all the time.
const instant = fc.integer({ min: 0, max: 6 });
const expires = fc.option(instant);
const remaining = fc.option(fc.integer({ min: 0, max: 2 }));
const facts: fc.Arbitrary<KeyStateFields> = fc.record({
  enabled: fc.boolean(),
  expires,
  remaining,
});
const update: fc.Arbitrary<LifecycleUpdate> = fc.record({
  enabled: fc.option(fc.boolean(), { nil: undefined }),
  expires: fc.option(expires, { nil: undefined }),
  remaining: fc.option(remaining, { nil: undefined }),
});

test("a key is enabled exactly when it is switched on, not expired and not exhausted", () => {
  fc.assert(
    fc.property(facts, instant, (key, now) => {
      const isExpired = key.expires !== null && key.expires <= now;
      const isExhausted = key.remaining === 0;
      expect(keyState(key, now) === "enabled").toBe(key.enabled && !isExpired && !isExhausted);
    }),
    { numRuns: 1_000 },
  );
});

test("time alone never enables a key", () => {
  fc.assert(
    fc.property(facts, instant, instant, (key, one, other) => {
      const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
      if (keyState(key, earlier) !== "enabled") expect(keyState(key, later)).not.toBe("enabled");
    }),
    { numRuns: 500 },
  );
});

test("enabled: true either enables the key or is refused, unless the same update lets it expire", () => {
  fc.assert(
    fc.property(facts, update, instant, (key, wanted, now) => {
      const decision = decideUpdate(key, { ...wanted, enabled: true }, now);
      if (decision.kind === "refuse-exhausted") return;
      const left = wanted.remaining === undefined ? key.remaining : wanted.remaining;
      const state = keyState({ ...decision, remaining: left }, now);
      const letsExpire =
        wanted.expires !== undefined && wanted.expires !== null && wanted.expires <= now;
      expect(state).toBe(letsExpire ? "expired" : "enabled");
    }),
    { numRuns: 1_000 },
  );
});

test("an update is refused exactly when it enables a key that would have no uses left", () => {
  fc.assert(
    fc.property(facts, update, instant, (key, wanted, now) => {
      const left = wanted.remaining === undefined ? key.remaining : wanted.remaining;
      const { kind } = decideUpdate(key, wanted, now);
      expect(kind === "refuse-exhausted").toBe(wanted.enabled === true && left === 0);
    }),
    { numRuns: 1_000 },
  );
});

test("an expiry is never moved by an update that neither names it nor enables the key", () => {
  fc.assert(
    fc.property(facts, update, instant, (key, wanted, now) => {
      fc.pre(wanted.enabled !== true);
      const decision = decideUpdate(key, { ...wanted, expires: undefined }, now);
      expect(decision).toMatchObject({ kind: "apply", expires: key.expires });
    }),
    { numRuns: 500 },
  );
});
