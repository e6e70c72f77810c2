import fc from "fast-check";
import { expect, test } from "vitest";
import { isExpired } from "./lifecycle.js";

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
