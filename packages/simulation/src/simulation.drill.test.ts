import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const MUTANTS = fileURLToPath(new URL("../mutants/run.mjs", import.meta.url));

/** A few that are found quickly, each by another kind of law; and two whose code once did not match their description. */
const SOME_MUTANTS = [
  "commit-expects-nothing",
  "uses-one-too-many",
  "cache-never-drops",
  "audit-not-written",
  "guard-admits-limited",
];

/** `args`: command line arguments of the program. */
function run(program: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** CI runs 4,000 with every push, including these. `LATCHKEY_FUZZ_RUNS=10`: ten times as many. */
const SCHEDULES = `${50 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1")}`;

test("no schedule of a simulated world breaks a law", () => {
  const { status, stdout, stderr } = run(PROGRAM, "--schedules", SCHEDULES, "--workers", "2");
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`${SCHEDULES} schedules from seed 1, 0 violations`);
});

/** Schedules that once broke a law. A plan is kept, not its seed: a new kind of action gives each seed another plan. */
const PLANS = fileURLToPath(new URL("../plans/", import.meta.url));

test.each(readdirSync(PLANS).filter((name) => name.endsWith(".plan")))(
  "%s once broke a law, and breaks none now",
  (name) => {
    const { status, stdout } = run(PROGRAM, "--plan", join(PLANS, name));
    expect(status, stdout).toBe(0);
  },
);

test("a stored schedule breaks a law again when its mistake is put back", () => {
  const { status, stdout } = run(MUTANTS, "--plans");
  expect(status, stdout).toBe(0);
  expect(stdout.match(/^\| `/gm)).toHaveLength(8);
});

test("every mutant finds the text that it changes, and uses names that exist", () => {
  const { status, stderr } = run(MUTANTS, "--check");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test("a mistake in production code breaks a law", () => {
  const { status, stdout } = run(MUTANTS, "--schedules", "2000", "--only", SOME_MUTANTS.join());
  expect(status, stdout).toBe(0);
  for (const name of SOME_MUTANTS) expect(stdout).toContain(`\`${name}\``);
});

test("a seed always tells the same story", () => {
  const [first, second] = [1, 2].map(() => run(PROGRAM, "--seed", "29", "--story"));
  const storyOf = (told: typeof first) => told?.stdout.replace(/\d+ a second.*/, "");
  expect(storyOf(first)).toContain("p0 calls #0");
  expect(storyOf(second)).toBe(storyOf(first));
});
