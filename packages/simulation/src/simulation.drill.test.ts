import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../dist/index.js", import.meta.url));

const MUTANTS = fileURLToPath(new URL("../mutants/run.mjs", import.meta.url));

/** @param args - What the program is called with. */
function simulate(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("no schedule of a simulated world breaks a law", () => {
  const { status, stdout, stderr } = simulate("--schedules", "400");
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("400 schedules from seed 1, 0 violations");
});

test("every mutant finds the text that it changes", () => {
  const { status, stderr } = spawnSync(process.execPath, [MUTANTS, "--check"], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test("a seed always tells the same story", () => {
  const [first, second] = [1, 2].map(() => simulate("--seed", "29", "--story"));
  const storyOf = (run: typeof first) => run?.stdout.replace(/\d+ a second/, "");
  expect(storyOf(first)).toContain("p0 calls #0");
  expect(storyOf(second)).toBe(storyOf(first));
});
