import { expect, test } from "vitest";
import { run } from "../testing/run.js";

test("the example finds all keys of an owner, disables and deletes them, and erases their owner", async () => {
  const { exitCode, stdout, stderr } = await run("22-revoke-an-owner/main.mjs");
  expect(stderr).toBe("");
  const [first, second, ...others] = stdout.trimEnd().split("\n");
  expect(first).toMatch(/^found {7}\w+… in maps$/);
  expect(second).toMatch(/^found {7}\w+… in tides$/);
  expect(others).toEqual([
    "disabled    2: DISABLED DISABLED VALID VALID",
    "deleted     2: NOT_FOUND NOT_FOUND VALID VALID",
    "erased      true, still named in the audit log: false",
  ]);
  expect(exitCode).toBe(0);
});
