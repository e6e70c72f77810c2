import { expect, test } from "vitest";
import { usageOf } from "../testing/records.js";
import { DAY_MS } from "../time.js";
import {
  refuseUsageChange,
  settingOfUses,
  toRefillView,
  usesAreOfIdentity,
} from "./uses-and-refill.js";

const NOW = 10 * DAY_MS;
const daily = { interval: "daily", amount: 10 } as const;
const dueToday = { amount: 10, dueAt: NOW };
const counted = (remaining: number | null, refilledAt = NOW) => usageOf(remaining, refilledAt);

test("an empty update writes nothing, and finds the uses including a due refill", () => {
  const uses = { usage: counted(3, NOW - 1), refill: daily };
  expect(settingOfUses(uses, {}, NOW)).toEqual({
    remainingBefore: 10,
    isMoreThanSet: false,
    usage: undefined,
    refill: undefined,
  });
  expect(settingOfUses(uses, {}, NOW - 1).remainingBefore).toBe(3);
});

test("a new number of uses is set now, after the refills that are due", () => {
  const uses = { usage: counted(3, NOW - 1), refill: daily };
  expect(settingOfUses(uses, { remaining: 5 }, NOW)).toEqual({
    remainingBefore: 10,
    isMoreThanSet: false,
    usage: { due: dueToday, operation: { kind: "set", remaining: 5 }, restartsAt: NOW },
    refill: undefined,
  });
});

test("a new refill keeps the uses, and starts now", () => {
  const refill = { interval: "daily", amount: 7 } as const;
  expect(settingOfUses({ usage: counted(3), refill: null }, { refill }, NOW)).toEqual({
    remainingBefore: 3,
    isMoreThanSet: false,
    usage: { due: null, operation: { kind: "keep" }, restartsAt: NOW },
    refill,
  });
});

test("uses that become unlimited lose their refill", () => {
  const setting = settingOfUses({ usage: counted(3), refill: daily }, { remaining: null }, NOW);
  expect(setting).toMatchObject({ refill: null, usage: { operation: { remaining: null } } });
});

test("unlimited uses take no refill, before or after the update", () => {
  const message = '"refill" needs remaining';
  const unlimited = { usage: counted(null), refill: null };
  expect(() => settingOfUses(unlimited, { refill: daily }, NOW)).toThrow(message);
  const limited = { usage: counted(3), refill: null };
  expect(() => settingOfUses(limited, { remaining: null, refill: daily }, NOW)).toThrow(message);
  expect(settingOfUses(unlimited, { remaining: 0, refill: daily }, NOW).refill).toBe(daily);
});

test("a refill is shown with the instant of the last one, and with a day only if it has one", () => {
  expect(toRefillView({ interval: "daily", amount: 5 }, 99)).toEqual({
    interval: "daily",
    amount: 5,
    lastRefillAt: 99,
  });
  expect(toRefillView({ interval: "monthly", amount: 5, refillDay: 31 }, 0)).toEqual({
    interval: "monthly",
    amount: 5,
    refillDay: 31,
    lastRefillAt: 0,
  });
});

test("unlimited uses can only be set", () => {
  expect(refuseUsageChange({ kind: "unlimited" }, "value")).toMatchObject({
    code: "BAD_REQUEST",
    issues: [{ path: "op" }],
  });
});

test("too few uses are a failed precondition that says how many are left", () => {
  expect(refuseUsageChange({ kind: "insufficient", remaining: 3 }, "value")).toMatchObject({
    code: "PRECONDITION_FAILED",
    reason: "insufficient-uses",
    details: { remaining: 3 },
  });
});

test("too few uses, with some held, say how many are held", () => {
  const refused = refuseUsageChange({ kind: "insufficient", remaining: 3 }, "value", 4);
  expect(refused.message).toBe("only 3 uses are left, and 4 are reserved; nothing was changed");
  expect(refused.details).toEqual({ remaining: 3, reserved: { uses: 4, ratelimits: [] } });
});

test("more uses than the largest number are an issue of the given field", () => {
  expect(refuseUsageChange({ kind: "overflow", remaining: 3 }, "value")).toMatchObject({
    code: "BAD_REQUEST",
    issues: [{ path: "value", message: "must keep remaining at or below 9007199254740991" }],
  });
});

test("uses of an identity are changed there, and the error says so", () => {
  expect(usesAreOfIdentity()).toMatchObject({
    code: "PRECONDITION_FAILED",
    reason: "uses-from-identity",
  });
});
