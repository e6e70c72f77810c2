import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kindOfWindow, LIMIT_ALGORITHMS } from "../rules/limit-state.js";
import { adHocWindow, configuredWindow, namespaceWindow } from "./limit-precedence.js";

const name = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
const duration = fc.integer({ min: 1, max: 2 ** 40 });
const algorithm = fc.constantFrom(...LIMIT_ALGORITHMS);
const limit = fc.record({ name, algorithm, duration });
const FIXED = { algorithm: "fixed", duration: 1 } as const;

describe("the name of a window", () => {
  test("of a configured limit holds its duration and its name", () => {
    expect(configuredWindow({ name: "default", algorithm: "fixed", duration: 60_000 })).toBe(
      "60000:default",
    );
  });

  test("of an ad hoc limit begins with the id of the counters that it belongs to", () => {
    expect(adHocWindow("key_1", { name: "burst", algorithm: "fixed", duration: 500 })).toBe(
      "a:key_1:500:burst",
    );
  });

  test.each([
    ["spaces and equals signs", "a b=c", "1:a%20b%3Dc"],
    ["colons", "a:b", "1:a%3Ab"],
    ["letters beyond ASCII", "größe", "1:gr%C3%B6%C3%9Fe"],
  ])("escapes %s", (_, limit, window) => {
    expect(configuredWindow({ name: limit, algorithm: "fixed", duration: 1 })).toBe(window);
  });

  test("is printable ASCII without spaces and equals signs, whatever the limit is called", () => {
    fc.assert(
      fc.property(limit, (one) => {
        const windows = [
          configuredWindow(one),
          adHocWindow("key_1", one),
          namespaceWindow(one.name, one.name, one),
        ];
        for (const window of windows) expect(window).toMatch(/^[!-<>-~]+$/);
      }),
    );
  });

  test("differs for different limits: no two share a window by accident", () => {
    fc.assert(
      fc.property(limit, limit, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(configuredWindow(one) === configuredWindow(other)).toBe(isSame);
        expect(adHocWindow("key_1", one) === adHocWindow("key_1", other)).toBe(isSame);
        expect(adHocWindow("key_1", one)).not.toBe(adHocWindow("key_2", one));
        expect(adHocWindow("key_1", one)).not.toBe(configuredWindow(other));
      }),
    );
  });

  test("contains its algorithm and its duration", () => {
    fc.assert(
      fc.property(limit, ({ name: of, algorithm, duration }) => {
        const kind = { algorithm, duration };
        expect(kindOfWindow(namespaceWindow(of, of, kind))).toEqual(kind);
        expect(kindOfWindow(adHocWindow("key_1", { name: of, ...kind }))).toEqual(kind);
        expect(kindOfWindow(configuredWindow({ name: of, ...kind }))).toEqual(kind);
      }),
    );
    expect(kindOfWindow("x:60000:tiles")).toBeNull();
  });

  test("of a limit without a key distinguishes namespaces and identifiers, wherever one ends and the other begins", () => {
    const text = fc.string({
      minLength: 1,
      maxLength: 3,
      unit: fc.constantFrom("a", "b", ",", '"'),
    });
    fc.assert(
      fc.property(text, text, text, text, (one, two, three, four) => {
        const isSame = one === three && two === four;
        expect(namespaceWindow(one, two, FIXED) === namespaceWindow(three, four, FIXED)).toBe(
          isSame,
        );
      }),
    );
    expect(namespaceWindow("a", "b", FIXED)).not.toBe(
      namespaceWindow("a", "b", { ...FIXED, duration: 2 }),
    );
  });

  test("of a limit without a key has the same length for every identifier, and does not show it", () => {
    const window = namespaceWindow("logins", "person@example.org".repeat(1_000), {
      ...FIXED,
      duration: 60_000,
    });
    expect(window).toHaveLength("n:60000:".length + 43);
    expect(window).not.toContain("person");
  });
});
