import fc from "fast-check";
import { expect, test } from "vitest";
import { DURATION_PATTERN, durationMs, LONGEST_DURATION } from "./duration.js";

test("every text that the pattern admits is an exact number of ms, and no other text is one", () => {
  const unit = fc.constantFrom("s", "m", "h", "d");
  const written = fc
    .tuple(fc.integer({ min: 1, max: 99_999_999 }), unit)
    .map(([n, u]) => `${n}${u}`);
  fc.assert(
    fc.property(
      fc.oneof(written, fc.string(), fc.stringMatching(/^[0-9]{1,9}[smhd]?$/)),
      (text) => {
        const ms = durationMs(text);
        const isLong =
          text.endsWith("d") && Number.parseInt(text, 10) > LONGEST_DURATION / 86_400_000;
        expect(ms !== null).toBe(DURATION_PATTERN.test(text) && !isLong);
        expect(ms === null || (Number.isSafeInteger(ms) && ms >= 1_000)).toBe(true);
      },
    ),
  );
});
