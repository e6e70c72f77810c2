import { expect, test } from "vitest";
import { requireFrom } from "./load-driver.js";

test("a package is resolved from the file that needs it", () => {
  expect(requireFrom(import.meta.url, "node:path")).toHaveProperty("join");
  expect(requireFrom(import.meta.url, "fast-check/package.json")).toHaveProperty(
    "name",
    "fast-check",
  );
});

test("a file in a bundle that does not know its own path resolves a package from the bundle", () => {
  expect(requireFrom(undefined, "node:path")).toHaveProperty("join");
});

test("a package that is not installed gives the error of Node.js, which names it", () => {
  for (const url of [import.meta.url, undefined])
    expect(() => requireFrom(url, "no-such-package")).toThrow(
      expect.objectContaining({
        code: "MODULE_NOT_FOUND",
        message: expect.stringContaining("'no-such-package'"),
      }),
    );
});
