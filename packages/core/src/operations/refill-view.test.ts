import { expect, test } from "vitest";
import { toRefillView } from "./refill-view.js";

test("a refill is shown with the instant at which it happened last, and a day only where it is monthly", () => {
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
