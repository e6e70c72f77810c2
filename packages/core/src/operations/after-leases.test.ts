import { expect, test } from "vitest";
import { isRelative } from "./after-leases.js";

test.each([
  [{ op: "increment", value: 1 }, true],
  [{ op: "decrement", value: 1 }, true],
  [{ op: "set", value: 1 }, false],
  [{}, false],
  [undefined, false],
  [null, false],
])("a call with %o leaves what was taken ahead as it is: %s", (input, isSo) => {
  expect(isRelative(input)).toBe(isSo);
});

test("a call whose input cannot be read does not", () => {
  const refuse = () => {
    throw new TypeError("not for you");
  };
  expect(isRelative(new Proxy({}, { get: refuse }))).toBe(false);
});
