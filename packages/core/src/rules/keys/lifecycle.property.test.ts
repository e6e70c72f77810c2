import fc from "fast-check";
import { expect, test } from "vitest";
import { LAST_INSTANT } from "../../time.js";
import {
  decideUpdate,
  type IdleFields,
  idleExpiresAt,
  isExpired,
  isStarted,
  type KeyStateFields,
  keyState,
  type LifecycleUpdate,
  mustStoreUse,
  startsTooLate,
} from "./lifecycle.js";

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

const anyInstant = fc.integer({ min: 0, max: 100 });
const anyInstantOrNull = fc.option(anyInstant);
const fields: fc.Arbitrary<IdleFields> = fc.record({
  expiresWhenUnused: fc.option(fc.integer({ min: 1, max: 50 })),
  createdAt: anyInstant,
  startsAt: anyInstantOrNull,
  idleFrom: anyInstantOrNull,
});

test("a key expires its whole span after the latest of creation, start, return and use, and never without a span", () => {
  fc.assert(
    fc.property(fields, anyInstantOrNull, (key, usedAt) => {
      const { expiresWhenUnused, createdAt, startsAt, idleFrom } = key;
      const since = Math.max(createdAt, startsAt ?? 0, idleFrom ?? 0, usedAt ?? 0);
      const dies = expiresWhenUnused === null ? null : since + expiresWhenUnused;
      expect(idleExpiresAt(key, usedAt)).toBe(dies);
    }),
  );
});

test("a key that was used within half of its span is alive by the uses that had to be stored", () => {
  fc.assert(
    fc.property(fields, fc.array(anyInstant), anyInstant, (key, uses, after) => {
      let stored: number | null = null;
      let latest: number | null = null;
      for (const at of uses.sort((one, other) => one - other)) {
        if (isExpired(idleExpiresAt(key, stored), at)) continue;
        latest = at;
        if (mustStoreUse(key, stored, at)) stored = at;
      }
      if (latest === null || key.expiresWhenUnused === null) return;
      const now = latest + Math.min(after, Math.ceil(key.expiresWhenUnused / 2) - 1);
      expect(isExpired(idleExpiresAt(key, stored), now)).toBe(false);
    }),
  );
});

test("a use must be stored from half of the span on, not before, and never for a key without a span", () => {
  fc.assert(
    fc.property(fields, anyInstantOrNull, fc.integer({ min: 1, max: 25 }), (key, usedAt, half) => {
      const of = (expiresWhenUnused: number | null, now: number) =>
        mustStoreUse({ ...key, expiresWhenUnused }, usedAt, now);
      const since = (idleExpiresAt({ ...key, expiresWhenUnused: 1 }, usedAt) as number) - 1;
      expect(of(2 * half, since + half - 1)).toBe(false);
      expect(of(2 * half, since + half)).toBe(true);
      expect(of(null, since + half)).toBe(false);
    }),
  );
});

test("a span beyond the last instant of a date ends there", () => {
  const key = { createdAt: 5, startsAt: null, idleFrom: null, expiresWhenUnused: 2 ** 52 };
  expect(idleExpiresAt(key, LAST_INSTANT - 1)).toBe(LAST_INSTANT);
});

test("once a key has started it has started for ever", () => {
  fc.assert(
    fc.property(anyInstantOrNull, anyInstant, anyInstant, (startsAt, now, later) => {
      if (isStarted(startsAt, now)) expect(isStarted(startsAt, now + later)).toBe(true);
    }),
  );
});

test("a start is too late exactly if the key is valid at no instant", () => {
  fc.assert(
    fc.property(anyInstantOrNull, anyInstantOrNull, (startsAt, expires) => {
      const instants = Array.from({ length: 102 }, (_, at) => at);
      const isGood = instants.some((now) => isStarted(startsAt, now) && !isExpired(expires, now));
      const isAlwaysExpired = expires === 0;
      expect(startsTooLate(startsAt, expires)).toBe(isAlwaysExpired ? startsAt !== null : !isGood);
    }),
  );
});

test("a key that has expired stays expired at every later instant", () => {
  fc.assert(
    fc.property(
      fc.option(fc.maxSafeNat()),
      fc.maxSafeNat(),
      fc.maxSafeNat(),
      (expires, one, other) => {
        const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
        if (isExpired(expires, earlier)) expect(isExpired(expires, later)).toBe(true);
      },
    ),
  );
});
