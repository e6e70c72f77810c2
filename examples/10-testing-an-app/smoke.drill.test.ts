import { expect, test } from "vitest";
import { run } from "../testing/run.js";

test("the tests of the example pass with Node's own runner, on the built packages", async () => {
  const { exitCode, stdout } = await run("10-testing-an-app/app.node-test.mjs");
  expect(stdout).toMatch(/pass 1\n/);
  expect(exitCode).toBe(0);
});
