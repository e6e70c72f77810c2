// Changes the rules of core in one place at a time, and checks that their tests notice:
//   npm run mutate                    every file below
//   npm run mutate -- charge refill   only these
//
// Exits with 1 if a change survives that equivalents.json does not explain.

import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Stryker } from "@stryker-mutator/core";

const CORE = "packages/core/src/";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The sources of a room of core, without their tests. @param {string} room */
const filesOf = (room) =>
  readdirSync(join(root, CORE, room))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => `${room}/${name.slice(0, -".ts".length)}`);

const FILES = [
  ...["rules", "rules/keys", "secrets", "verification"].flatMap(filesOf),
  ...["charge", "counters", "settle"].map((name) => `store/${name}`),
];

/** @typedef {{ readonly file: string, readonly line: string, readonly original: string, readonly replacement: string, readonly reason: string }} Equivalent */

/** @type {readonly Equivalent[]} */
const equivalents = JSON.parse(readFileSync(new URL("equivalents.json", import.meta.url), "utf8"));

const names = process.argv.slice(2);
const unknown = names.filter((name) => !FILES.some((file) => file.endsWith(`/${name}`)));
if (unknown.length > 0) throw new Error(`no such rule: ${unknown.join(", ")}`);
const chosen = FILES.filter(
  (file) => names.length === 0 || names.some((name) => file.endsWith(`/${name}`)),
);

process.chdir(root);
const results = await new Stryker({
  mutate: chosen.map((file) => `${CORE}${file}.ts`),
  plugins: ["@stryker-mutator/vitest-runner"],
  testRunner: "vitest",
  vitest: { configFile: ".ci/mutation/vitest.config.ts" },
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 5000,
  // It cannot read TypeScript 7, and the tests run without compiling.
  tsconfigFile: "none",
  disableTypeChecks: false,
  ignorePatterns: ["dist", "/docs", "/examples"],
  tempDirName: join(tmpdir(), "latchkey-mutation"),
  reporters: ["progress-append-only"],
}).runMutationTest();

/** @param {(typeof results)[number]} mutant */
function describe({ fileName, location, replacement, status }) {
  const lines = readFileSync(fileName, "utf8").split("\n");
  const { start, end } = location;
  const [first = "", ...rest] = lines.slice(start.line - 1, end.line);
  const original =
    rest.length === 0
      ? first.slice(start.column - 1, end.column - 1)
      : [
          first.slice(start.column - 1),
          ...rest.slice(0, -1),
          rest.at(-1)?.slice(0, end.column - 1),
        ].join("\n");
  const file = fileName.slice(join(root, CORE).length, -".ts".length);
  const line = lines[start.line - 1]?.trim() ?? "";
  return { file, line, number: start.line, original, replacement: replacement ?? "", status };
}

const mutants = results.map(describe);
/** @typedef {(typeof mutants)[number]} Mutant */
/** @param {Mutant} mutant */
const isFound = ({ status }) => status === "Killed" || status === "Timeout";
/** @param {Mutant} mutant */
const isLeft = ({ status }) => status === "Survived" || status === "NoCoverage";
/** A branch that the compiler proves is never taken. @param {Mutant} mutant */
const isUnreachable = ({ original, replacement }) =>
  replacement === "default:" && original.endsWith("satisfies never;");

/** @param {Mutant} mutant */
const isExplained = (mutant) =>
  isUnreachable(mutant) ||
  equivalents.some(
    ({ file, line, original, replacement }) =>
      mutant.file === file &&
      mutant.line === line &&
      mutant.original === original &&
      mutant.replacement === replacement,
  );

let unexplained = 0;
for (const mutant of mutants.filter(isLeft)) {
  if (isExplained(mutant)) continue;
  unexplained += 1;
  const { file, number, original, replacement } = mutant;
  console.log(`\n${file}.ts:${number} survives\n- ${original}\n+ ${replacement}`);
}

/** @param {string} name @param {typeof mutants} of */
function printLine(name, of) {
  const found = of.filter(isFound).length;
  const left = of.filter(isLeft);
  const equal = left.filter(isExplained).length;
  const score = ((100 * found) / (found + left.length)).toFixed(1);
  console.log(
    `| ${name} | ${found + left.length} | ${found} | ${equal} | ${left.length - equal} | ${score} |`,
  );
}

console.log("\n| file | mutants | found | equivalent | unexplained | score |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
for (const file of chosen) {
  const of = mutants.filter((mutant) => mutant.file === file);
  if (of.length > 0) printLine(`\`${file}.ts\``, of);
}
printLine("all", mutants);
process.exitCode = unexplained > 0 ? 1 : 0;
