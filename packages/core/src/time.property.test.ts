import fc from "fast-check";
import { expect, test } from "vitest";
import { createMonotonicClock } from "./time.js";

test("every answer is the highest reading so far", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), (readings) => {
      let next = 0;
      const now = createMonotonicClock(() => readings[next++] as number);
      for (const index of readings.keys()) {
        expect(now()).toBe(Math.max(...readings.slice(0, index + 1)));
      }
    }),
  );
});
