import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./sources.js";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-tally-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the tally on a report with these test states. Returns its exit status and its output lines. */
function tally(states: readonly string[], overrides: Readonly<Record<string, unknown>> = {}) {
  const count = (state: string) => states.filter((candidate) => candidate === state).length;
  const report = {
    numPassedTests: count("passed"),
    numFailedTests: count("failed"),
    numPendingTests: count("skipped"),
    numTodoTests: count("todo"),
    success: count("failed") === 0,
    testResults: [
      {
        name: "a.test.ts",
        status: count("failed") === 0 ? "passed" : "failed",
        assertionResults: states.map((status, index) => ({ status, fullName: `test ${index}` })),
      },
    ],
    ...overrides,
  };
  const file = join(folder, "report.json");
  writeFileSync(file, JSON.stringify(report));
  return run(file);
}

function run(file: string) {
  const { status, stdout } = spawnSync(process.execPath, [join(root, ".ci", "tally.mjs"), file], {
    encoding: "utf8",
  });
  const lines = stdout.trimEnd().split("\n");
  return { status, before: lines.slice(0, -1), lastLine: lines.at(-1) };
}

test("a run in which everything passed succeeds", () => {
  expect(tally(["passed", "passed"])).toMatchObject({ status: 0, lastLine: "2 passed, 0 failed" });
});

test("a failed test fails the run", () => {
  expect(tally(["passed", "failed"])).toMatchObject({ status: 1, lastLine: "1 passed, 1 failed" });
});

test("a failed test is named with its message, before the count", () => {
  const assertionResults = [
    {
      status: "failed",
      fullName: "a limit holds",
      failureMessages: ["expected 3 to be 2\nat a line"],
    },
  ];
  const { before } = tally(["failed"], {
    testResults: [{ name: "a.test.ts", status: "failed", assertionResults }],
  });
  expect(before).toEqual([
    "failed: a.test.ts > a limit holds",
    "  expected 3 to be 2",
    "  at a line",
  ]);
});

test.each(["skipped", "todo"])("a test that is %s fails the run", (state) => {
  expect(tally(["passed", state])).toMatchObject({ status: 1, lastLine: "1 passed, 0 failed" });
});

test("a run without tests fails", () => {
  expect(tally([], { testResults: [] })).toMatchObject({
    status: 1,
    lastLine: "0 passed, 0 failed",
  });
});

test("a test file that did not load fails the run", () => {
  const broken = { name: "b.test.ts", status: "failed", message: "oops", assertionResults: [] };
  const ran = { name: "a.test.ts", status: "passed", assertionResults: [{ status: "passed" }] };
  expect(tally(["passed"], { success: false, testResults: [ran, broken] })).toMatchObject({
    status: 1,
    lastLine: "1 passed, 0 failed",
  });
});

test("a run that failed outside of its tests fails", () => {
  expect(tally(["passed"], { success: false }).status).toBe(1);
});

test("a run that left no report fails, and still ends with the count", () => {
  expect(run(join(folder, "missing.json"))).toMatchObject({
    status: 1,
    lastLine: "0 passed, 0 failed",
  });
});
