import { expect, test } from "vitest";
import { usageOf } from "../testing/records.js";
import { settingOfUses } from "./uses-and-refill.js";

const DAY_MS = 86_400_000;
const NOW = 10 * DAY_MS;
const daily = { interval: "daily", amount: 10 } as const;
const dueToday = { amount: 10, dueAt: NOW };
const counted = (remaining: number | null, refilledAt = NOW) => usageOf(remaining, refilledAt);

test("nothing wanted writes nothing, and finds the uses with a refill that is due", () => {
  const uses = { usage: counted(3, NOW - 1), refill: daily };
  expect(settingOfUses(uses, {}, NOW)).toEqual({
    remainingBefore: 10,
    restartsRefills: false,
    usage: undefined,
    refill: undefined,
  });
  expect(settingOfUses(uses, {}, NOW - 1).remainingBefore).toBe(3);
});

test("a new number is set from now on, after what was owed until now", () => {
  const uses = { usage: counted(3, NOW - 1), refill: daily };
  expect(settingOfUses(uses, { remaining: 5 }, NOW)).toEqual({
    remainingBefore: 10,
    restartsRefills: false,
    usage: { due: dueToday, operation: { kind: "set", remaining: 5 }, restartsAt: NOW },
    refill: undefined,
  });
});

test("a new refill keeps the number, and begins now", () => {
  const refill = { interval: "daily", amount: 7 } as const;
  expect(settingOfUses({ usage: counted(3), refill: null }, { refill }, NOW)).toEqual({
    remainingBefore: 3,
    restartsRefills: false,
    usage: { due: null, operation: { kind: "keep" }, restartsAt: NOW },
    refill,
  });
});

test("uses that become unlimited lose their refill", () => {
  const setting = settingOfUses({ usage: counted(3), refill: daily }, { remaining: null }, NOW);
  expect(setting).toMatchObject({ refill: null, usage: { operation: { remaining: null } } });
});

test("uses without a limit take no refill, before or after the setting", () => {
  const message = '"refill" needs remaining';
  const unlimited = { usage: counted(null), refill: null };
  expect(() => settingOfUses(unlimited, { refill: daily }, NOW)).toThrow(message);
  const limited = { usage: counted(3), refill: null };
  expect(() => settingOfUses(limited, { remaining: null, refill: daily }, NOW)).toThrow(message);
  expect(settingOfUses(unlimited, { remaining: 0, refill: daily }, NOW).refill).toBe(daily);
});
