// Makes a checkout ready to use, and gets out of the way when it is: every npm script begins here.
//   node .ci/setup.mjs            install what is missing or out of date
//   node .ci/setup.mjs --build    the same, then compile every package into its dist/
//   node .ci/setup.mjs --test     the same as the first, and see to Redis, PostgreSQL and a browser for the tests
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

/** What the page needs, and the notices that go with it. */
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
 * Runs a program in the repository with its output visible; answers whether it succeeded.
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

/** What the installed modules were made from. A different Node needs different native modules. */
function wantedStamp() {
  const lockFile = readFileSync(join(root, "pnpm-lock.yaml"));
  const hash = createHash("sha256").update(lockFile).digest("hex");
  return `${hash} modules-${process.versions.modules}\n`;
}

/** @param {string} stamp */
function isInstalled(stamp) {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
}

/** Where the headers of this Node are, if it came with them: then building needs no download. */
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

/** better-sqlite3 is compiled where no prebuilt binary can be had. On Debian, as root, that can be arranged. */
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

/** @returns {unknown} null when better-sqlite3 works, otherwise what went wrong. */
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

/** Asked of a new process: a native module that failed to load once does not load again in the same one. */
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
    // Recursively: the top package does not depend on it, and pnpm would find nothing to do.
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

/** The reference page of packages/http is shown by Swagger UI, which its package brings along: as a file, not a dependency. */
function copySwaggerUi() {
  const http = join(root, "packages", "http");
  const source = join(http, "node_modules", "swagger-ui-dist");
  const target = join(http, "page", "swagger-ui");
  mkdirSync(target, { recursive: true });
  for (const name of SWAGGER_UI_FILES) {
    const wanted = readFileSync(join(source, name));
    const copy = join(target, name);
    // Left alone where it is the same: a test may be reading it.
    if (!existsSync(copy) || !readFileSync(copy).equals(wanted)) writeFileSync(copy, wanted);
  }
}

function hasRedis() {
  if (process.env.REDIS_URL) return true;
  return spawnSync("sh", ["-c", "command -v redis-server"], { stdio: "ignore" }).status === 0;
}

/** Tests start servers of their own. Without the program they are skipped, and say so. */
function provideRedis() {
  if (hasRedis()) return;
  if (existsSync("/etc/debian_version") && process.getuid?.() === 0) {
    say("installing redis-server for the tests");
    // RUNLEVEL=1 keeps the package from starting a server of its own.
    const env = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    run("apt-get", ["update", "-q"], env);
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "redis-server"], env);
  }
  if (!hasRedis()) say("redis-server not found and REDIS_URL not set: tests of Redis are skipped");
}

/** On the PATH, or where Debian has it. packages/postgres/src/testing/postgres-server.ts looks in the same places. */
function hasPostgres() {
  if (process.env.POSTGRES_URL) return true;
  const script = "command -v postgres || ls /usr/lib/postgresql/*/bin/postgres";
  return spawnSync("sh", ["-c", script], { stdio: "ignore" }).status === 0;
}

/** As with Redis. */
function providePostgres() {
  if (hasPostgres()) return;
  if (existsSync("/etc/debian_version") && process.getuid?.() === 0) {
    say("installing postgresql for the tests");
    const env = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    run("apt-get", ["update", "-q"], env);
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "postgresql"], env);
  }
  if (!hasPostgres())
    say("PostgreSQL not found and POSTGRES_URL not set: tests of a server are skipped");
}

function hasPgbouncer() {
  return spawnSync("sh", ["-c", "command -v pgbouncer"], { stdio: "ignore" }).status === 0;
}

/** As with Redis. */
function providePgbouncer() {
  if (hasPgbouncer()) return;
  if (existsSync("/etc/debian_version") && process.getuid?.() === 0) {
    say("installing pgbouncer for the tests");
    const env = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    run("apt-get", ["update", "-q"], env);
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "pgbouncer"], env);
  }
  if (!hasPgbouncer()) say("pgbouncer not found: tests of it are skipped");
}

/** The names that packages/http/src/testing/browser.ts looks for. */
function hasBrowser() {
  if (process.env.CHROMIUM) return true;
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const script = names.map((name) => `command -v ${name}`).join(" || ");
  return spawnSync("sh", ["-c", script], { stdio: "ignore" }).status === 0;
}

/** Tests look at the reference page. Without a browser they are skipped, and say so. */
function provideBrowser() {
  if (hasBrowser()) return;
  if (existsSync("/etc/debian_version") && process.getuid?.() === 0) {
    say("installing chromium for the tests of the reference page");
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-q"], env);
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"], env);
  }
  if (!hasBrowser()) say("no Chromium on the PATH or in CHROMIUM: tests of the page are skipped");
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
  provideRedis();
  providePostgres();
  providePgbouncer();
  provideBrowser();
}
