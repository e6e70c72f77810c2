import fc from "fast-check";
import { expect, test } from "vitest";
import { isExpired } from "./lifecycle.js";
import { DEAD_SINCE, decideRotation } from "./rotation.js";

const instants = fc.nat({ max: 8_640_000_000_000_000 });

test("a rotated key never lives longer than it would have, nor longer than the grace", () => {
  fc.assert(
    fc.property(fc.option(instants), instants, instants, (expires, graceMs, now) => {
      const decision = decideRotation({ expires, rotatedTo: null }, graceMs, now);
      if (decision.kind !== "rotate") return;
      expect(decision.expires).toBeGreaterThanOrEqual(now);
      expect(decision.expires - now).toBeLessThanOrEqual(graceMs);
      if (expires !== null) expect(decision.expires).toBeLessThanOrEqual(expires);
    }),
  );
});

test("only a key that is dead or has a successor is refused", () => {
  fc.assert(
    fc.property(fc.option(instants), instants, fc.boolean(), (expires, now, isRotated) => {
      const rotatedTo = isRotated ? "key_2" : null;
      const { kind } = decideRotation({ expires, rotatedTo }, 0, now);
      expect(kind === "rotate").toBe(!isRotated && !isExpired(expires, now));
    }),
  );
});

test("a leaked key that is rotated is dead at once, and on every clock since 1973", () => {
  fc.assert(
    fc.property(fc.option(instants), instants, instants, (expires, now, other) => {
      const decision = decideRotation({ expires, rotatedTo: null }, null, now);
      if (decision.kind !== "rotate") return;
      for (const at of [now, Math.max(other, DEAD_SINCE)])
        expect(isExpired(decision.expires, at)).toBe(true);
    }),
  );
});
