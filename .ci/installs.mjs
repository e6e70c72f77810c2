// Installs the packed packages as a user would, in empty folders, with npm, pnpm and Bun, and uses them there, and on Deno:
//   node .ci/installs.mjs <folder with a tarball in a folder of each package>

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const catalog = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
const sqliteRange = /better-sqlite3: (\S+)/.exec(catalog)?.[1];
const [packed = "."] = process.argv.slice(2);

/** The tarball of each package. */
const tarballs = readdirSync(packed).map((directory) => {
  const file = readdirSync(join(packed, directory)).find((name) => name.endsWith(".tgz"));
  return join(packed, directory, String(file));
});

/** The commands of docs/installing.md for an application, for npm, and for pnpm and Bun, without those for SQLite. */
const [, forNpm = "", forOthers = ""] = [
  ...readFileSync(join(root, "docs/installing.md"), "utf8").matchAll(/^```console\n(.*?)^```$/gms),
].map(([, block = ""]) => block.replaceAll(/^\$ /gm, "").replaceAll(/^.*# for SQLite.*$/gm, ""));

/** Prints the verdict of a guarded route on memory, and then the start of an API id from a SQLite store, or the error of opening it. */
const PROGRAM = `
import { createLatchkey, memoryStore, openStore } from "latchkey";
import { createGuard } from "@latchkey/guard/fetch";

const latchkey = createLatchkey({ store: memoryStore() });
const { apiId } = await latchkey.createApi({ name: "maps" });
const { key } = await latchkey.createKey({ apiId });
const route = createGuard(latchkey)({}, (request, apiKey) => new Response(apiKey.code));
const headers = { authorization: "Bearer " + key };
console.log(await (await route(new Request("http://maps.example/tiles", { headers }))).text());
try {
  const store = openStore("sqlite::memory:");
  console.log((await createLatchkey({ store }).createApi({ name: "maps" })).apiId.slice(0, 4));
} catch (error) {
  console.log(error.name, error.code, error.message);
}
`;

/** Opens a store without its driver, and does not catch the error. */
const CARELESS_PROGRAM = 'import { openStore } from "latchkey";\nopenStore("sqlite::memory:");\n';

/** Requests the pages of the console and the portal, and the bundles that they load. */
const PAGES_PROGRAM = `
import { createConsole } from "@latchkey/console/fetch";
import { createPortal } from "@latchkey/portal/fetch";
import { createLatchkey, memoryStore } from "latchkey";

const latchkey = createLatchkey({ store: memoryStore() });
const origin = "http://keys.example/";
for (const [name, pages] of Object.entries({ createConsole, createPortal })) {
  const handle = pages(latchkey);
  const page = await handle(new Request(origin));
  const [, path = ""] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
  const bundle = await handle(new Request(new URL(path, origin)));
  console.log(name, page.status, bundle.status, bundle.headers.get("content-type"));
}
`;

/** Entries whose types need no framework. */
const TYPED = [
  ...["latchkey", "latchkey/testing", "@latchkey/core", "@latchkey/transfer", "@latchkey/import"],
  ...["@latchkey/webhooks", "@latchkey/guard/node", "@latchkey/guard/fetch"],
  ...["@latchkey/console/node", "@latchkey/portal/node"],
];

/** The oldest TypeScript that docs/installing.md names. */
const [, oldestTypeScript] =
  /TypeScript (\d\.\d) or newer is needed/.exec(
    readFileSync(join(root, "docs/installing.md"), "utf8"),
  ) ?? [];

/** Most characters of a line that Node.js prints for an error: a longer line is bundled code. */
const MAX_LINE = 300;

// Located here, not run by npx in the application: npx would read the files that Bun wrote there, and refuse them.
const bun = outputOf(["npx", "--yes", "--package=bun@1", "which", "bun"], root).trim();
const deno = outputOf(["npx", "--yes", "--package=deno@2", "which", "deno"], root).trim();

/** @type {{ name: string, install: string, hasAll?: true, run: string[], missing: string, sqlite?: string[], expected: string }[]} */
const INSTALLERS = [
  {
    name: "npm",
    install: `npm() { command npm "$@" --no-audit --no-fund --loglevel=error; }\n${forNpm}`,
    hasAll: true,
    run: ["node"],
    missing: "npm install better-sqlite3",
    sqlite: ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"],
    expected: "npm rebuild better-sqlite3",
  },
  {
    name: "pnpm",
    install: `pnpm() { npx --yes ${packageManager} "$@" --reporter=silent; }\n${forOthers}`,
    run: ["node"],
    missing: "npm install better-sqlite3",
    sqlite: ["npx", "--yes", packageManager, "add", "--reporter=silent"],
    expected: "pnpm approve-builds",
  },
  {
    name: "bun",
    install: `pnpm() { ${bun} "$@" --silent; }\n${forOthers}`,
    run: [bun, "run"],
    missing: "better-sqlite3, which does not run on Bun",
    expected: "",
  },
];

/**
 * Runs a command, and returns its output. @throws {Error} If it fails.
 *
 * @param {readonly string[]} command
 * @param {string} cwd
 */
function outputOf([program = "", ...args], cwd) {
  const env = { ...process.env, npm_config_update_notifier: "false", NODE_ENV: "" };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}

/**
 * @param {string} output
 * @param {string} part
 */
function expectIn(output, part) {
  if (!output.includes(part)) throw new Error(`expected "${part}" in:\n${output}`);
}

for (const { name, install, hasAll, run, missing, sqlite, expected } of INSTALLERS) {
  const folder = mkdtempSync(join(tmpdir(), `latchkey-${name}-`));
  const place = join(folder, "your-app");
  try {
    mkdirSync(place);
    mkdirSync(join(folder, "latchkey", "tarballs"), { recursive: true });
    for (const path of tarballs)
      copyFileSync(path, join(folder, "latchkey", "tarballs", basename(path)));
    const manifest = { name: "tiles", type: "module", private: true };
    writeFileSync(join(place, "package.json"), JSON.stringify(manifest));
    writeFileSync(join(place, "program.mjs"), PROGRAM);
    outputOf(["bash", "-euc", install], place);
    const program = [...run, "program.mjs"];
    const bare = outputOf(program, place);
    expectIn(bare, "VALID\n");
    expectIn(bare, "LatchkeyError PRECONDITION_FAILED");
    expectIn(bare, missing);
    writeFileSync(join(place, "careless.mjs"), CARELESS_PROGRAM);
    const uncaught = spawnSync(process.execPath, ["careless.mjs"], {
      cwd: place,
      encoding: "utf8",
    });
    expectIn(uncaught.stderr, "LatchkeyError: better-sqlite3 is not installed");
    if (uncaught.stderr.split("\n").some((line) => line.length > MAX_LINE))
      throw new Error(`an uncaught error prints a page:\n${uncaught.stderr}`);
    console.log(`${name}: memory verifies, SQLite says what is missing`);
    if (hasAll) {
      writeFileSync(join(place, "pages.mjs"), PAGES_PROGRAM);
      const pages = outputOf([...run, "pages.mjs"], place);
      for (const made of ["createConsole", "createPortal"])
        expectIn(pages, `${made} 200 200 text/javascript`);
      console.log(`${name}: the console and the portal serve their pages`);
      compileTypes(place);
      console.log(`${name}: the types compile with TypeScript ${oldestTypeScript}`);
      const onDeno = outputOf([deno, "run", "--allow-all", "program.mjs"], place);
      expectIn(onDeno, "VALID\n");
      expectIn(onDeno, "better-sqlite3, which does not run on Deno");
      console.log(`${name}: on Deno, memory verifies, SQLite says what does not run`);
    }
    if (sqlite === undefined) continue;
    // The install script does not run, because a package manager's policy may forbid it.
    outputOf([...sqlite, `better-sqlite3@${sqliteRange}`], place);
    expectIn(outputOf(program, place), expected);
    // Adds the binary from this repository, as if the script had built it.
    useBuiltDriver(place);
    expectIn(outputOf(program, place), "api_");
    console.log(`${name}: SQLite says "${expected}", and works then`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Compiles a module that exports all entries, with their declarations checked. Those of other packages may have errors.
 *
 * @param {string} place
 */
function compileTypes(place) {
  const compiler = [`typescript@${oldestTypeScript}`, "@types/node@20"];
  outputOf(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...compiler], place);
  expectIn(outputOf(["npx", "tsc", "--version"], place), `Version ${oldestTypeScript}.`);
  const lines = TYPED.map((entry, at) => `export * as entry${at} from "${entry}";`);
  writeFileSync(join(place, "types.mts"), lines.join("\n"));
  const options = ["--strict", "--target", "es2022", "--module", "nodenext", "--noEmit"];
  const { stdout } = spawnSync("npx", ["tsc", ...options, "--types", "node", "types.mts"], {
    cwd: place,
    encoding: "utf8",
  });
  const ofOthers = /^node_modules\/(?!(@latchkey|latchkey)\/)/;
  const errors = stdout.split("\n").filter((line) => line !== "" && !ofOthers.test(line));
  if (errors.length > 0) throw new Error(`the types do not compile:\n${errors.join("\n")}`);
}

/** @param {string} place */
function useBuiltDriver(place) {
  const paths = [join(root, "packages/sqlite"), place].map((from) =>
    outputOf(["node", "-p", 'require.resolve("better-sqlite3/package.json")'], from).trim(),
  );
  const [built = "", installed = ""] = paths.map((path) => join(dirname(path), "build"));
  mkdirSync(installed, { recursive: true });
  outputOf(["cp", "-r", `${built}/.`, installed], place);
}
