import { expect, test } from "vitest";
import { run } from "../testing/run.js";

test("the example shows the life of one key from its issue to its deletion", async () => {
  const { exitCode, stdout, stderr } = await run("01-in-memory/main.mjs");
  expect(stderr).toBe("");
  expect(
    stdout
      .replace(/key_\w+/, "key_…")
      .trimEnd()
      .split("\n"),
  ).toEqual([
    "issued      key_…",
    "verified    VALID, 2 uses left",
    "five more   VALID VALID USAGE_EXCEEDED USAGE_EXCEEDED USAGE_EXCEEDED",
    "disabled    DISABLED",
    "enabled     VALID",
    "deleted     NOT_FOUND",
  ]);
  expect(exitCode).toBe(0);
});
