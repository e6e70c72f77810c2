import { expect, test } from "vitest";
import { isRelative } from "./after-leases.js";

test.each(["increment", "decrement"])("a call that says %s by itself is about no lease", (op) => {
  expect(isRelative({ op, value: 1 })).toBe(true);
});

test.each([
  ["sets uses", { op: "set", value: 1 }],
  ["says nothing of it", {}],
  ["inherits it", Object.create({ op: "increment" })],
  [
    "may say another thing when it is read again",
    {
      get op() {
        return "increment";
      },
    },
  ],
  ["is none", null],
  [
    "cannot be read",
    new Proxy(
      {},
      {
        getOwnPropertyDescriptor() {
          throw new TypeError("no");
        },
      },
    ),
  ],
])("a call that %s waits for leases", (_, input) => {
  expect(isRelative(input)).toBe(false);
});
