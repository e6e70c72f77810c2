import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adHocWindow, configuredWindow, namespaceWindow } from "./window-name.js";

const name = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
const duration = fc.integer({ min: 1, max: 2 ** 40 });

describe("the name of a window", () => {
  test("of a configured limit holds its duration and its name", () => {
    expect(configuredWindow({ name: "default", duration: 60_000 })).toBe("60000:default");
  });

  test("of a limit that a request made up begins with whose counters it is among", () => {
    expect(adHocWindow("key_1", { name: "burst", duration: 500 })).toBe("a:key_1:500:burst");
  });

  test.each([
    ["spaces and equals signs", "a b=c", "1:a%20b%3Dc"],
    ["colons", "a:b", "1:a%3Ab"],
    ["letters beyond ASCII", "größe", "1:gr%C3%B6%C3%9Fe"],
  ])("escapes %s", (_, limit, window) => {
    expect(configuredWindow({ name: limit, duration: 1 })).toBe(window);
  });

  test("is printable ASCII without spaces and equals signs, whatever the limit is called", () => {
    fc.assert(
      fc.property(name, duration, (limit, span) => {
        const windows = [
          configuredWindow({ name: limit, duration: span }),
          adHocWindow("key_1", { name: limit, duration: span }),
          namespaceWindow(limit, limit, span),
        ];
        for (const window of windows) expect(window).toMatch(/^[!-<>-~]+$/);
      }),
    );
  });

  test("is another for every other limit: no two share a window by accident", () => {
    const limit = fc.record({ name, duration });
    fc.assert(
      fc.property(limit, limit, (one, other) => {
        const isSame = one.name === other.name && one.duration === other.duration;
        expect(configuredWindow(one) === configuredWindow(other)).toBe(isSame);
        expect(adHocWindow("key_1", one) === adHocWindow("key_1", other)).toBe(isSame);
        expect(adHocWindow("key_1", one)).not.toBe(adHocWindow("key_2", one));
        expect(adHocWindow("key_1", one)).not.toBe(configuredWindow(other));
      }),
    );
  });

  test("of a limit without a key tells namespaces and identifiers apart, wherever one ends and the other begins", () => {
    const text = fc.string({
      minLength: 1,
      maxLength: 3,
      unit: fc.constantFrom("a", "b", ",", '"'),
    });
    fc.assert(
      fc.property(text, text, text, text, (one, two, three, four) => {
        const isSame = one === three && two === four;
        expect(namespaceWindow(one, two, 1) === namespaceWindow(three, four, 1)).toBe(isSame);
      }),
    );
    expect(namespaceWindow("a", "b", 1)).not.toBe(namespaceWindow("a", "b", 2));
  });

  test("of a limit without a key is of one length, however long the identifier, and does not show it", () => {
    const window = namespaceWindow("logins", "person@example.org".repeat(1_000), 60_000);
    expect(window).toHaveLength("n:60000:".length + 43);
    expect(window).not.toContain("person");
  });
});
