// Makes a checkout ready to use, and does nothing if it is ready. Every npm script begins with it.
//   node .ci/setup.mjs            installs what is missing or out of date
//   node .ci/setup.mjs --build    the same, then compiles every package into its dist/
//   node .ci/setup.mjs --test     the same as the first, and provides Redis, PostgreSQL and a browser for the tests
//
// It runs before anything is installed, so it imports nothing but Node's own modules and build.mjs.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampFile = join(root, "node_modules", ".latchkey-setup");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Files of Swagger UI that the page needs, and their licences. */
const SWAGGER_UI_FILES = [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE",
];

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`\nlatchkey setup: ${message}\n`);
  process.exit(1);
}

/** @param {string} message */
function say(message) {
  console.log(`latchkey setup: ${message}`);
}

/**
 * Runs a program in the repository with its output visible. Returns whether it succeeded.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function run(program, args, env = {}) {
  const result = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  return result.status === 0;
}

function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Node ${manifest.engines.node} is needed, this is ${process.versions.node}.`);
  }
}

/** Identifies what the installed modules were made from. A different Node needs different native modules. */
function wantedStamp() {
  const lockFile = readFileSync(join(root, "pnpm-lock.yaml"));
  const hash = createHash("sha256").update(lockFile).digest("hex");
  return `${hash} modules-${process.versions.modules}\n`;
}

/** @param {string} stamp */
function isInstalled(stamp) {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
}

/** The location of this Node's headers, if it came with them, so that compiling needs no download. */
function buildEnvironment() {
  const prefix = dirname(dirname(process.execPath));
  const hasHeaders = existsSync(join(prefix, "include", "node", "node.h"));
  return hasHeaders && !process.env.npm_config_nodedir ? { npm_config_nodedir: prefix } : {};
}

/** @param {string[]} args */
function pnpm(args) {
  const version = String(manifest.packageManager).replace("pnpm@", "");
  return run("npx", ["--yes", `pnpm@${version}`, ...args], buildEnvironment());
}

function missingBuildTools() {
  if (process.platform === "win32") return [];
  return ["python3", "make", "g++"].filter(
    (tool) => spawnSync("sh", ["-c", `command -v ${tool}`], { stdio: "ignore" }).status !== 0,
  );
}

/** Installs the tools that compile better-sqlite3 if there is no prebuilt binary: on Debian, as root. Elsewhere it only names them. */
function provideBuildTools() {
  const missing = missingBuildTools();
  if (missing.length === 0) return;
  if (existsSync("/etc/debian_version") && process.getuid?.() === 0) {
    say(`installing ${missing.join(", ")} to compile better-sqlite3`);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-q"], env);
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...missing], env);
  } else {
    say(`${missing.join(", ")} not found: needed if better-sqlite3 has to be compiled`);
  }
}

/** @returns {unknown} null if better-sqlite3 works, otherwise the error. */
function sqliteProblem() {
  try {
    const load = createRequire(join(root, "packages", "sqlite", "package.json"));
    const Database = load("better-sqlite3");
    new Database(":memory:").close();
    return null;
  } catch (error) {
    return error;
  }
}

/** The same in a new process: a native module that failed to load once does not load again in the same process. */
function sqliteProblemAfterRebuild() {
  const script = 'const D = require("better-sqlite3"); new D(":memory:").close();';
  const result = spawnSync(process.execPath, ["-e", script], {
    cwd: join(root, "packages", "sqlite"),
    encoding: "utf8",
  });
  return result.status === 0 ? null : result.stderr;
}

function install() {
  const stamp = wantedStamp();
  if (!isInstalled(stamp)) {
    rmSync(stampFile, { force: true });
    provideBuildTools();
    say("installing dependencies (compiling better-sqlite3 can take a minute or two)");
    const isDone = pnpm(["install", "--frozen-lockfile", "--config.confirmModulesPurge=false"]);
    if (!isDone) {
      fail(
        "pnpm install failed, see above. If it says that the lock file is out of date, run\n" +
          `  npx --yes ${manifest.packageManager} install\n` +
          "If better-sqlite3 did not compile: python3, make and g++ are needed.",
      );
    }
  }
  if (sqliteProblem() !== null) {
    say("better-sqlite3 does not load, compiling it again");
    provideBuildTools();
    // Recursively: the root package does not depend on it, so pnpm would find nothing to do.
    pnpm(["-r", "rebuild", "better-sqlite3"]);
    const problem = sqliteProblemAfterRebuild();
    if (problem !== null) {
      fail(
        `better-sqlite3 cannot be loaded. To compile it, python3, make and g++ are needed.\n${problem}`,
      );
    }
  }
  if (!isInstalled(stamp)) {
    mkdirSync(dirname(stampFile), { recursive: true });
    writeFileSync(stampFile, stamp);
  }
}

/** Copies Swagger UI, which shows the reference page of packages/http, into that package: it ships the files and has no dependency. */
function copySwaggerUi() {
  const http = join(root, "packages", "http");
  const source = join(http, "node_modules", "swagger-ui-dist");
  const target = join(http, "page", "swagger-ui");
  mkdirSync(target, { recursive: true });
  for (const name of SWAGGER_UI_FILES) {
    const wanted = readFileSync(join(source, name));
    const copy = join(target, name);
    // An equal file is not written again, because a test may be reading it.
    if (!existsSync(copy) || !readFileSync(copy).equals(wanted)) writeFileSync(copy, wanted);
  }
}

/**
 * Programs that tests start. As root on Debian, missing ones are installed. Elsewhere the tests that need them are skipped, and say so.
 * `find`: a shell command that succeeds if the program is there; tests look in the same places. `packages`: the first that Debian has.
 */
const PROGRAMS = [
  {
    packages: ["redis-server"],
    find: "command -v redis-server",
    setting: "REDIS_URL",
    skipped: "tests of Redis",
  },
  {
    packages: ["postgresql"],
    find: "command -v postgres || ls /usr/lib/postgresql/*/bin/postgres",
    setting: "POSTGRES_URL",
    skipped: "tests of a PostgreSQL server",
  },
  {
    packages: ["pgbouncer"],
    find: "command -v pgbouncer",
    setting: null,
    skipped: "tests of pgbouncer",
  },
  {
    // The first is the same browser without a window, and takes two thirds of the time. Older versions of Debian lack it.
    packages: ["chromium-headless-shell", "chromium"],
    find: "command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable",
    setting: "CHROMIUM",
    skipped: "tests that open a page",
  },
];

/** @param {(typeof PROGRAMS)[number]} program */
function isThere({ find, setting }) {
  if (setting !== null && process.env[setting]) return true;
  return spawnSync("sh", ["-c", find], { stdio: "ignore" }).status === 0;
}

function providePrograms() {
  const missing = PROGRAMS.filter((program) => !isThere(program));
  if (missing.length > 0 && existsSync("/etc/debian_version") && process.getuid?.() === 0) {
    // RUNLEVEL=1 keeps packages from starting servers of their own.
    const env = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    run("apt-get", ["update", "-q"], env);
    for (const { packages } of missing) {
      say(`installing ${packages[0]} for the tests`);
      const installs = packages.map(
        (name) => `apt-get install -y -q --no-install-recommends ${name}`,
      );
      run("sh", ["-c", installs.join(" || ")], env);
    }
  }
  for (const program of missing.filter((each) => !isThere(each))) {
    const setting = program.setting === null ? "" : `, and ${program.setting} is not set`;
    say(`${program.packages.join(" or ")} not found${setting}: ${program.skipped} are skipped`);
  }
}

checkNodeVersion();
install();
copySwaggerUi();
if (process.argv.includes("--build")) {
  try {
    await build();
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}
if (process.argv.includes("--test")) {
  providePrograms();
}
