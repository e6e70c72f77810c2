// Shows that the simulation detects mistakes: applies one mutant at a time, runs schedules until a law is broken, and prints a table of the
// broken laws and the numbers of schedules.
//
//   node packages/simulation/mutants/run.mjs [--schedules n] [--workers n] [--only name,name] [--seconds n]
//   node packages/simulation/mutants/run.mjs --plans     only mutants with a stored schedule, each in that schedule
//   node packages/simulation/mutants/run.mjs --check     only checks that every mutant finds its text, and uses names that exist

import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { mutated, readMutants } from "./read.mjs";

const SIMULATION = fileURLToPath(new URL("../", import.meta.url));
const BIOME = join(SIMULATION, "..", "..", "node_modules", ".bin", "biome");

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "200000" },
    workers: { type: "string", default: "2" },
    seconds: { type: "string", default: "600" },
    only: { type: "string" },
    plans: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});

/**
 * @param {ReadonlyMap<string, string>} sources Replacements of the sources at these paths.
 * @param {string} dir
 */
async function bundle(sources, dir) {
  await build({
    cwd: SIMULATION,
    input: { index: "src/index.ts" },
    platform: "node",
    resolve: { conditionNames: ["latchkey-source", "node", "import", "default"] },
    plugins: [{ name: "mutate", load: (id) => sources.get(id) ?? null }],
    transform: { target: "node20.19" },
    output: { dir, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
    logLevel: "silent",
  });
}

/** The path of the schedule stored for a mutant. @param {string} name */
const planOf = (name) => join(SIMULATION, "plans", `${name}.plan`);

/**
 * @param {string} dir
 * @param {string} name
 * @returns {Promise<{ readonly after: string, readonly law: string }>}
 */
function simulate(dir, name) {
  const { schedules, seconds, plans } = values;
  const which = plans ? ["--plan", planOf(name)] : ["--schedules", schedules];
  const args = [join(dir, "index.mjs"), ...which, "--first"];
  const options = { timeout: Number(seconds) * 1_000, maxBuffer: 1e8 };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const found = /schedule (\d+): (.*)\n +(.*)/.exec(stdout);
      if (found !== null)
        resolve({ after: String(found[1]), law: `${found[2]}`, how: `${found[3]}` });
      else if (error?.killed) resolve({ after: `more than ${seconds} s`, law: "**not found**" });
      else if (error !== null)
        resolve({
          after: "1",
          law: `it crashes: ${stderr.split("\n").find((line) => /Error/.test(line)) ?? stderr.slice(0, 200)}`,
        });
      else resolve({ after: `more than ${schedules}`, law: "**not found**" });
    });
  });
}

/**
 * Finds undeclared names: a mutant with one breaks a law because it crashes, not because of its mistake.
 *
 * @param {ReturnType<typeof readMutants>} mutants
 * @returns {string | null} Output of the linter; null: all names exist.
 */
function unknownNames(mutants) {
  const dir = mkdtempSync(join(tmpdir(), "latchkey-mutants-"));
  try {
    writeFileSync(join(dir, "biome.json"), "{}");
    for (const mutant of mutants)
      for (const [place, text] of [...mutated(mutant).values()].entries())
        writeFileSync(join(dir, `${mutant.name}.${place}.ts`), text);
    const args = ["lint", "--only=correctness/noUndeclaredVariables", "."];
    const { status, stdout, stderr } = spawnSync(BIOME, args, { cwd: dir, encoding: "utf8" });
    return status === 0 ? null : `${stdout}${stderr}`;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const only = values.only?.split(",");
const mutants = readMutants().filter(({ name }) =>
  values.plans ? existsSync(planOf(name)) : only === undefined || only.includes(name),
);
const unknown = unknownNames(mutants);
if (unknown !== null) process.stderr.write(unknown);
else if (values.check) process.stdout.write(`${mutants.length} mutants find their texts\n`);
if (unknown !== null || values.check) process.exit(unknown === null ? 0 : 1);

const waiting = [...mutants];
const rows = new Map();
let isComplete = true;

async function work() {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const dir = mkdtempSync(join(tmpdir(), "latchkey-mutant-"));
    try {
      await bundle(mutated(mutant), dir);
      const result = await simulate(dir, mutant.name);
      if (result.law.startsWith("**")) isComplete = false;
      rows.set(mutant, `| \`${mutant.name}\` | ${mutant.what} | ${result.after} | ${result.law} |`);
      process.stderr.write(`${mutant.name}: ${result.after}, ${result.law} ${result.how ?? ""}\n`);
    } finally {
      rmSync(dir, { recursive: true });
    }
  }
}

await Promise.all(Array.from({ length: Number(values.workers) }, work));
process.stdout.write(
  "| mutant | what is wrong | found after | by the law |\n| --- | --- | ---: | --- |\n",
);
for (const mutant of mutants) process.stdout.write(`${rows.get(mutant)}\n`);
process.exitCode = isComplete ? 0 : 1;
