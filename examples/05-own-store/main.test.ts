import { expect, test } from "vitest";
import { run } from "../testing/run.js";

test("the example shows a key that outlives the process, in a custom store", async () => {
  const { exitCode, stdout, stderr } = await run("05-own-store/main.mjs");
  expect(stderr).toBe("");
  expect(
    stdout
      .replace(/key_\w+/, "key_…")
      .replace(/\d+ rows/, "… rows")
      .trimEnd()
      .split("\n"),
  ).toEqual([
    "issued      key_…",
    "five uses   VALID VALID VALID USAGE_EXCEEDED USAGE_EXCEEDED",
    "opened      USAGE_EXCEEDED",
    "one more    VALID",
    "deleted     NOT_FOUND",
    "the file    … rows, and the secret in none",
  ]);
  expect(exitCode).toBe(0);
});
