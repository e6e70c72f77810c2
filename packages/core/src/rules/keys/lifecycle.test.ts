import { describe, expect, test } from "vitest";
import { applyRefill, changeUsage } from "../../store/counters.js";
import { usageOf } from "../../testing/records.js";
import {
  decideUpdate,
  isExpired,
  type KeyStateFields,
  keyState,
  type LifecycleUpdate,
} from "./lifecycle.js";
import { decideSpend } from "./spend.js";

const NOW = 1_000_000;
const ENABLED: KeyStateFields = { enabled: true, expires: null, remaining: null };
const SWITCHED_OFF: KeyStateFields = { ...ENABLED, enabled: false };
const EXPIRED: KeyStateFields = { ...ENABLED, expires: NOW - 1 };
const EXHAUSTED: KeyStateFields = { ...ENABLED, remaining: 0 };
const NOTHING: LifecycleUpdate = { enabled: undefined, expires: undefined, remaining: undefined };

/** The fields after an update, or null if it is refused. `remaining` follows the use counter. */
function factsAfter(
  facts: KeyStateFields,
  update: Partial<LifecycleUpdate>,
  now = NOW,
): KeyStateFields | null {
  const decision = decideUpdate(facts, { ...NOTHING, ...update }, now);
  if (decision.kind === "refuse-exhausted") return null;
  const { enabled, expires } = decision;
  const operation =
    update.remaining === undefined
      ? { kind: "keep" as const }
      : { kind: "set" as const, remaining: update.remaining };
  const result = changeUsage(usageOf(facts.remaining), { due: null, operation, restartsAt: now });
  if (result.kind !== "changed") throw new Error("keep and set always change");
  return { enabled, expires, remaining: result.usage.remaining };
}

/** The state right after an update. */
function stateAfter(facts: KeyStateFields, update: Partial<LifecycleUpdate>, now = NOW) {
  const after = factsAfter(facts, update, now);
  return after === null ? "refused" : keyState(after, now);
}

describe("the state table", () => {
  test("a key is created as it is given: enabled or switched off", () => {
    expect(keyState(ENABLED, NOW)).toBe("enabled");
    expect(keyState(SWITCHED_OFF, NOW)).toBe("switched-off");
  });

  test.each([
    [
      "an enabled key is enabled before its expiry, and expired at it and after",
      { expires: NOW },
      ["enabled", "expired", "expired"],
    ],
    [
      "a key that expires when unused does so at the instant that follows from its uses",
      { idleExpiresAt: NOW },
      ["enabled", "expired", "expired"],
    ],
    [
      "a key is enabled from its start on, not before",
      { startsAt: NOW },
      ["not-started", "enabled", "enabled"],
    ],
  ])("%s", (_, facts, states) => {
    const at = (now: number) => keyState({ ...ENABLED, ...facts }, now);
    expect([at(NOW - 1), at(NOW), at(NOW + 1)]).toEqual(states);
  });

  test("an enabled key is exhausted by the use that takes the last one, and that use is valid", () => {
    const lastUse = decideSpend(1, 1);
    expect(lastUse.kind).toBe("spend");
    expect(keyState({ ...ENABLED, remaining: 1 }, NOW)).toBe("enabled");
    expect(keyState({ ...ENABLED, remaining: lastUse.remaining }, NOW)).toBe("exhausted");
  });

  test("an enabled key is switched off by an update with enabled: false", () => {
    expect(stateAfter(ENABLED, { enabled: false })).toBe("switched-off");
  });

  test("a switched off key is enabled by an update with enabled: true", () => {
    expect(stateAfter(SWITCHED_OFF, { enabled: true })).toBe("enabled");
  });

  test("an expired key is enabled by enabled: true without a new expires, which clears the elapsed one", () => {
    expect(factsAfter(EXPIRED, { enabled: true })).toEqual(ENABLED);
  });

  test("an expired key is enabled by a new expires that is later than now", () => {
    expect(stateAfter(EXPIRED, { expires: NOW + 1 })).toBe("enabled");
  });

  test("an expired key is enabled by expires: null", () => {
    expect(stateAfter(EXPIRED, { expires: null })).toBe("enabled");
  });

  test("an expired key stays expired with a new expires that is not later than now", () => {
    expect(stateAfter(EXPIRED, { expires: NOW })).toBe("expired");
    expect(stateAfter(EXPIRED, { expires: NOW - 1 })).toBe("expired");
  });

  test("an exhausted key is enabled by a remaining above 0", () => {
    expect(stateAfter(EXHAUSTED, { remaining: 1 })).toBe("enabled");
  });

  test("an exhausted key is enabled by remaining: null, as unlimited", () => {
    expect(stateAfter(EXHAUSTED, { remaining: null })).toBe("enabled");
  });

  test("an exhausted key is enabled by a refill that falls due", () => {
    const refilled = applyRefill(usageOf(0), { amount: 5, dueAt: NOW });
    expect(keyState({ ...EXHAUSTED, remaining: refilled.remaining }, NOW)).toBe("enabled");
  });

  test("an exhausted key is not enabled by enabled: true alone: that is refused", () => {
    expect(decideUpdate(EXHAUSTED, { ...NOTHING, enabled: true }, NOW)).toEqual({
      kind: "refuse-exhausted",
    });
  });
});

describe("the state of a key", () => {
  test("is named by the first reason: switched off before expired before exhausted", () => {
    const allAtOnce = { enabled: false, expires: NOW - 1, remaining: 0 };
    expect(keyState(allAtOnce, NOW)).toBe("switched-off");
    expect(keyState({ ...allAtOnce, enabled: true }, NOW)).toBe("expired");
    expect(keyState({ ...allAtOnce, enabled: true, expires: null }, NOW)).toBe("exhausted");
  });

  test("is enabled with one use left, exhausted with none, and unlimited is not none", () => {
    expect(keyState({ ...ENABLED, remaining: 1 }, NOW)).toBe("enabled");
    expect(keyState({ ...ENABLED, remaining: 0 }, NOW)).toBe("exhausted");
    expect(keyState({ ...ENABLED, remaining: null }, NOW)).toBe("enabled");
  });
});

describe("updates that touch several reasons at once", () => {
  test("a switched off key whose expiry elapsed meanwhile is enabled, and its elapsed expiry cleared", () => {
    expect(factsAfter({ ...EXPIRED, enabled: false }, { enabled: true })).toEqual(ENABLED);
  });

  test("an expiry clears only once it has elapsed: a millisecond before, enabled: true leaves it", () => {
    const expires = NOW;
    expect(factsAfter({ ...SWITCHED_OFF, expires }, { enabled: true }, NOW - 1)?.expires).toBe(
      expires,
    );
    expect(factsAfter({ ...SWITCHED_OFF, expires }, { enabled: true }, NOW)?.expires).toBeNull();
  });

  test("a new expires is taken as given, also together with enabled: true", () => {
    expect(factsAfter(EXPIRED, { enabled: true, expires: NOW + 5 })?.expires).toBe(NOW + 5);
    expect(stateAfter(EXPIRED, { enabled: true, expires: NOW - 5 })).toBe("expired");
  });

  test("a new expires alone does not switch a key on", () => {
    expect(stateAfter({ ...EXPIRED, enabled: false }, { expires: NOW + 5 })).toBe("switched-off");
  });

  test("a switched off and exhausted key is not enabled by enabled: true alone", () => {
    expect(stateAfter({ ...EXHAUSTED, enabled: false }, { enabled: true })).toBe("refused");
  });

  test.each([
    { remaining: 1, state: "enabled" },
    { remaining: null, state: "enabled" },
    { remaining: 0, state: "refused" },
  ])(
    "an exhausted key with enabled: true and remaining: $remaining is then $state",
    ({ remaining, state }) => {
      expect(stateAfter(EXHAUSTED, { enabled: true, remaining })).toBe(state);
    },
  );

  test("a key with uses left is not enabled and emptied in one update", () => {
    expect(stateAfter({ ...ENABLED, remaining: 5 }, { enabled: true, remaining: 0 })).toBe(
      "refused",
    );
  });

  test("remaining: 0 alone exhausts a key", () => {
    expect(stateAfter({ ...ENABLED, remaining: 5 }, { remaining: 0 })).toBe("exhausted");
  });

  test("an exhausted key may be switched off, and stays exhausted underneath", () => {
    expect(factsAfter(EXHAUSTED, { enabled: false })).toEqual({ ...EXHAUSTED, enabled: false });
  });

  test("switching an expired key off leaves its elapsed expiry", () => {
    expect(factsAfter(EXPIRED, { enabled: false })).toEqual({ ...EXPIRED, enabled: false });
  });

  test("an update of none of the three fields leaves the state as it is", () => {
    for (const facts of [ENABLED, SWITCHED_OFF, EXPIRED, EXHAUSTED])
      expect(factsAfter(facts, {})).toEqual(facts);
  });
});

test.each([
  { label: "one millisecond before its expiry a key is alive", now: 999, answer: false },
  { label: "at the instant of its expiry itself a key is dead", now: 1_000, answer: true },
  { label: "one millisecond after its expiry a key is dead", now: 1_001, answer: true },
])("$label", ({ now, answer }) => {
  expect(isExpired(1_000, now)).toBe(answer);
});

test("a key without an expiry never expires", () => {
  expect(isExpired(null, Number.MAX_SAFE_INTEGER)).toBe(false);
});

test("an expiry at the epoch is an expiry, not the absence of one", () => {
  expect(isExpired(0, 0)).toBe(true);
});
