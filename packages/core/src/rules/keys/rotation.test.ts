import { describe, expect, test } from "vitest";
import { decideRotation, putsOffRotated } from "./rotation.js";

const NOW = 1_000;
const fresh = { expires: null, rotatedTo: null };

describe("a rotation", () => {
  test("without grace ends the old key at once", () => {
    expect(decideRotation(fresh, 0, NOW)).toEqual({ kind: "rotate", expires: NOW });
  });

  test.each([
    [1_099, 1_099],
    [1_100, 1_100],
    [1_101, 1_100],
    [null, 1_100],
  ])("with a grace of 100 ms never outlasts an expiry at %j", (expires, dies) => {
    expect(decideRotation({ ...fresh, expires }, 100, NOW)).toEqual({
      kind: "rotate",
      expires: dies,
    });
  });

  test.each([
    [NOW - 1, "expired"],
    [NOW, "expired"],
    [NOW + 1, "rotate"],
  ])("of a key that expires at %d, at 1000: %s", (expires, kind) => {
    expect(decideRotation({ ...fresh, expires }, 100, NOW).kind).toBe(kind);
  });

  test("happens once to a key, even if it has expired because of it since", () => {
    for (const expires of [null, NOW - 1, NOW, NOW + 1]) {
      const decision = decideRotation({ expires, rotatedTo: "key_2" }, 100, NOW);
      expect(decision.kind).toBe("rotated-before");
    }
  });
});

describe("the expiry of a key that was rotated", () => {
  test.each([
    { before: 1_000, after: 999, putsOff: false },
    { before: 1_000, after: 1_000, putsOff: false },
    { before: 1_000, after: 1_001, putsOff: true },
    { before: 1_000, after: null, putsOff: true },
    { before: null, after: 1_000, putsOff: false },
    { before: null, after: null, putsOff: false },
  ])("is postponed by $after after $before: $putsOff", ({ before, after, putsOff }) => {
    expect(putsOffRotated("key_2", before, after)).toBe(putsOff);
  });

  test("can be moved freely as long as the key was not rotated", () => {
    expect(putsOffRotated(null, 1_000, 2_000)).toBe(false);
  });
});
