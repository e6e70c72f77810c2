// Runs the store tests on each supported version of Node and of each driver, and prints a table:
//   node .ci/matrix.mjs               every row
//   node .ci/matrix.mjs ioredis@5     only rows with this in their name
//
// Each row is installed in a clone of the last commit, with the row's version of Node. It does not run on every push, because a row takes
// minutes.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [wanted = ""] = process.argv.slice(2);

const STORES = {
  memory: { drivers: [], files: ["packages/memory/src/store.test.ts"] },
  sqlite: { drivers: ["better-sqlite3"], files: ["packages/sqlite/src/store.test.ts"] },
  redis: { drivers: ["ioredis"], files: ["packages/redis/src/store.test.ts"] },
  postgres: {
    drivers: ["pg", "@electric-sql/pglite"],
    files: ["packages/postgres/src/server.test.ts", "packages/postgres/src/pglite.test.ts"],
  },
};

/** @typedef {keyof typeof STORES} StoreName */
/** @typedef {{ readonly node: number, readonly driver?: string, readonly stores: readonly StoreName[] }} Row */

const ALL = /** @type {readonly StoreName[]} */ (Object.keys(STORES));

/**
 * The first four use the driver versions of the lock file. The others use the lowest and highest versions that the packages allow.
 *
 * @type {readonly Row[]}
 */
const ROWS = [
  { node: 20, stores: ALL },
  { node: 22, stores: ALL },
  { node: 24, stores: ALL },
  { node: 26, stores: ALL },
  { node: 20, driver: "ioredis@5.9.0", stores: ["redis"] },
  { node: 20, driver: "ioredis@^5.9.0", stores: ["redis"] },
  { node: 26, driver: "ioredis@^5.9.0", stores: ["redis"] },
  { node: 20, driver: "pg@8.11.0", stores: ["postgres"] },
  { node: 26, driver: "pg@8.11.0", stores: ["postgres"] },
  { node: 22, driver: "better-sqlite3@^13.0.0", stores: ["sqlite"] },
  { node: 24, driver: "better-sqlite3@^13.0.0", stores: ["sqlite"] },
  { node: 26, driver: "better-sqlite3@^13.0.0", stores: ["sqlite"] },
];

/**
 * Runs a program. Returns its output, or throws an error with the end of it.
 *
 * @param {readonly string[]} command
 * @param {string} cwd
 * @param {string} [path] - Folder of the Node that runs it.
 */
function run([program = "", ...args], cwd, path) {
  const paths = [...(path === undefined ? [] : [path]), process.env.PATH];
  const env = { ...process.env, PATH: paths.join(delimiter), npm_config_update_notifier: "false" };
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status === 0) return stdout;
  const last = `${stdout}\n${stderr}`.trim().split("\n").slice(-8).join("\n");
  throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${last}`);
}

/** Folder of the latest Node of a major version. @param {number} major */
function folderOfNode(major) {
  if (Number.parseInt(process.versions.node, 10) === major) return dirname(process.execPath);
  // The package that `node` depends on: it includes the headers for a driver that must be compiled.
  const name = `node-${process.platform}-${process.arch}@${major}`;
  const program = run(["npx", "--yes", `--package=${name}`, "which", "node"], root);
  return dirname(realpathSync(program.trim()));
}

/** Sets the version of a driver in the catalog of a clone. @param {string} clone @param {string} driver */
function pin(clone, driver) {
  const file = join(clone, "pnpm-workspace.yaml");
  const [, name = "", version = ""] = /^(.+)@(.+)$/.exec(driver) ?? [];
  const text = readFileSync(file, "utf8");
  const pinned = text.replace(new RegExp(`^(  ${name}: ).*$`, "m"), `$1${version}`);
  if (pinned === text) throw new Error(`the catalog has no ${name}, or this version already`);
  writeFileSync(file, pinned);
}

/**
 * The version of a driver that is installed for a package of a clone.
 *
 * @param {string} clone
 * @param {string} store
 * @param {string} driver
 */
function versionOf(clone, store, driver) {
  const { resolve } = createRequire(join(clone, "packages", store, "package.json"));
  for (const path of resolve.paths(driver) ?? []) {
    try {
      return JSON.parse(readFileSync(join(path, driver, "package.json"), "utf8")).version;
    } catch {}
  }
  throw new Error(`${driver} is not installed`);
}

/** @param {Row} row @returns {string[][]} A line of the table for each store. */
function linesOf({ node, driver, stores }) {
  const clone = mkdtempSync(join(tmpdir(), "latchkey-matrix-"));
  try {
    run(["git", "clone", "--quiet", "--shared", root, clone], root);
    const path = folderOfNode(node);
    const version = run(["node", "--version"], clone, path).trim();
    if (driver !== undefined) {
      pin(clone, driver);
      const { packageManager } = JSON.parse(readFileSync(join(clone, "package.json"), "utf8"));
      run(["npx", "--yes", packageManager, "install", "--lockfile-only"], clone, path);
    }
    run(["node", ".ci/setup.mjs"], clone, path);
    return stores.map((store) => {
      const { drivers, files } = STORES[store];
      const report = join(clone, `${store}.json`);
      const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.workspace.ts"];
      const options = ["--project", "tests", "--reporter=json", `--outputFile=${report}`];
      try {
        run(["node", ...vitest, ...options, ...files], clone, path);
      } catch (error) {
        console.error(error instanceof Error ? error.message : error);
      }
      const result = JSON.parse(readFileSync(report, "utf8"));
      const names = drivers.map((name) => `${name} ${versionOf(clone, store, name)}`).join(", ");
      const { numPassedTests, numFailedTests, numPendingTests } = result;
      const isGood = result.success && numPassedTests > 0 && numPendingTests === 0;
      if (!isGood) process.exitCode = 1;
      const verdict = isGood
        ? "passed"
        : `**${numFailedTests} failed, ${numPendingTests} skipped**`;
      return [version, store, names || "none", String(numPassedTests), verdict];
    });
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

/** @param {readonly string[]} cells */
const print = (cells) => console.log(`| ${cells.join(" | ")} |`);

print(["Node", "store", "driver", "tests", "result"]);
print(["---", "---", "---", "---:", "---"]);
for (const row of ROWS) {
  const name = `node@${row.node} ${row.driver ?? ""}`.trim();
  if (!name.includes(wanted)) continue;
  try {
    for (const line of linesOf(row)) print(line);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
    print([String(row.node), row.stores.join(", "), row.driver ?? "lock file", "0", "**not run**"]);
  }
}
