import fc from "fast-check";
import { expect, test } from "vitest";
import { isExpired, isStarted, startsTooLate } from "./lifecycle.js";

const instant = fc.integer({ min: 0, max: 100 });
const instantOrNull = fc.option(instant);

test("once a key has started it has started for ever", () => {
  fc.assert(
    fc.property(instantOrNull, instant, instant, (startsAt, now, later) => {
      if (isStarted(startsAt, now)) expect(isStarted(startsAt, now + later)).toBe(true);
    }),
  );
});

test("a start is too late exactly if the key is valid at no instant", () => {
  fc.assert(
    fc.property(instantOrNull, instantOrNull, (startsAt, expires) => {
      const instants = Array.from({ length: 102 }, (_, at) => at);
      const isGood = instants.some((now) => isStarted(startsAt, now) && !isExpired(expires, now));
      const isAlwaysExpired = expires === 0;
      expect(startsTooLate(startsAt, expires)).toBe(isAlwaysExpired ? startsAt !== null : !isGood);
    }),
  );
});
