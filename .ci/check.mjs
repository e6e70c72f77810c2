// Every check besides the tests: one line each, with the full output of those that fail at the end.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * @typedef {{ readonly isOk: boolean, readonly output: string }} Result
 * @typedef {{ readonly name: string, readonly run: () => Promise<Result> }} Check
 */

/**
 * Runs a program in the repository and keeps what it prints.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<Result>}
 */
function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", (error) => resolve({ isOk: false, output: `${output}${error.message}\n` }));
    child.on("close", (status) => resolve({ isOk: status === 0, output }));
  });
}

/** @param {string} name @param {readonly string[]} args */
const tool = (name, args) => run(join(bin, name), args);

/**
 * Packed files that are no modules, by package: checks of modules do not notice if one is missing.
 *
 * @type {Record<string, readonly string[]>}
 */
const mustBePacked = {
  console: ["dist/page/app.css", "dist/page/app.js"],
  portal: ["dist/page/app.css", "dist/page/app.js", "dist/page/latchkey-keys.js"],
  http: [
    "page/index.html",
    "page/page.css",
    "page/page.js",
    "page/swagger-ui/LICENSE",
    "page/swagger-ui/NOTICE",
    "page/swagger-ui/swagger-ui-bundle.js",
    "page/swagger-ui/swagger-ui-bundle.js.LICENSE.txt",
    "page/swagger-ui/swagger-ui.css",
  ],
};

/** Most bytes of an unpacked package. Everyone installs core, so it stays small. @type {Record<string, number>} */
const maxBytes = { core: 650_000 };

/** @param {string} name */
const notPacked = (name) => `not in the tarball: ${name}`;

/** Whether a file is only for tests. Such files are compiled, but not published. @param {string} name */
const isForTests = (name) => /^package\/dist\/testing\/|\.test\.|\.worker\./.test(name);

/**
 * Files and folders of a package that its README links to, which the tarball must contain.
 *
 * @param {string} directory
 */
function linkedFrom(directory) {
  const readme = readFileSync(join(root, "packages", directory, "README.md"), "utf8");
  const targets = [...readme.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^(?:https?:|\.\.\/)/.test(target));
}

/**
 * Total size of all files in a tar archive, in bytes. Each file has a header of 512 bytes with its size in octal, and its content is padded
 * to a multiple of 512.
 *
 * @param {Buffer} archive
 */
function unpackedSize(archive) {
  let bytes = 0;
  for (let at = 0; archive[at]; ) {
    const size = Number.parseInt(archive.toString("latin1", at + 124, at + 136), 8);
    bytes += size;
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return bytes;
}

/**
 * Packs every public package as for publishing (workspace: and catalog: ranges resolved, publishConfig applied), each into its own folder.
 *
 * @param {string} into
 * @returns {Promise<Result>}
 */
async function pack(into) {
  const filters = publicPackages().map((directory) => `--filter=./packages/${directory}`);
  const pnpm = ["--yes", manifest.packageManager, "--recursive", ...filters];
  const packed = await run("npx", [...pnpm, "pack", "--pack-destination", into]);
  for (const directory of packed.isOk ? publicPackages() : []) {
    const file = join(root, "packages", directory, "package.json");
    const { name, version } = JSON.parse(readFileSync(file, "utf8"));
    const tarball = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
    mkdirSync(join(into, directory));
    renameSync(join(into, tarball), join(into, directory, tarball));
  }
  return packed;
}

/**
 * Checks the tarball of a package.
 *
 * @param {string} directory
 * @param {string} from
 * @returns {Promise<Result>}
 */
async function checkPacked(directory, from) {
  const target = join(from, directory);
  const tarball = readdirSync(target).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) return { isOk: false, output: "it was not packed" };
  const path = join(target, tarball);
  const listed = await run("tar", ["-tzf", path]);
  const names = listed.output.split("\n");
  const bytes = unpackedSize(gunzipSync(readFileSync(path)));
  const limit = maxBytes[directory] ?? bytes;
  const missing = [...(mustBePacked[directory] ?? []), ...linkedFrom(directory)].filter(
    (name) => !names.some((one) => `${one}/`.startsWith(`package/${name}/`)),
  );
  const problems = [
    ...missing.map(notPacked),
    ...(bytes > limit ? [`unpacked it has ${bytes} bytes, and may have ${limit}`] : []),
    ...names.filter(isForTests).map((name) => `in the tarball, and for tests only: ${name}`),
  ];
  const results = await Promise.all([
    { isOk: listed.isOk && problems.length === 0, output: problems.join("\n") },
    tool("publint", ["run", path, "--strict"]),
    tool("attw", [path, "--profile", "esm-only", "--no-emoji"]),
  ]);
  return {
    isOk: results.every(({ isOk }) => isOk),
    output: results.map(({ output }) => output).join("\n"),
  };
}

/** @returns {string[]} */
function publicPackages() {
  return readdirSync(join(root, "packages")).filter((directory) => {
    try {
      const text = readFileSync(join(root, "packages", directory, "package.json"), "utf8");
      return JSON.parse(text).private !== true;
    } catch {
      return false;
    }
  });
}

/**
 * @param {Check} check
 * @returns {Promise<Result & { readonly name: string }>}
 */
async function report(check) {
  const startedAt = performance.now();
  const result = await check.run();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${result.isOk ? "ok    " : "FAILED"}  ${check.name}  (${seconds} s)`);
  return { ...result, name: check.name };
}

const scratch = mkdtempSync(join(tmpdir(), "latchkey-check-"));
const vitest = ["run", "--config", "vitest.workspace.ts"];
/** @type {readonly Check[]} */
const first = [
  {
    name: "build (tsc -b, rolldown)",
    run: () => run(process.execPath, [join(root, ".ci", "setup.mjs"), "--build"]),
  },
  // After the build, which is what gets packed.
  { name: "pack", run: () => pack(scratch) },
];
/** The longest come first, so that no processor waits for them at the end. @type {readonly Check[]} */
const others = [
  {
    name: "installed from tarballs (npm, pnpm, Bun; Node.js, Bun, Deno)",
    run: () => run(process.execPath, [join(root, ".ci", "installs.mjs"), scratch]),
  },
  {
    name: "documentation site (links, anchors, pages in a browser)",
    run: () => run(process.execPath, [join(root, "packages", "site", "check.mjs")]),
  },
  {
    name: "architecture",
    run: () => tool("vitest", [...vitest, ".ci/", "--reporter=dot"]),
  },
  {
    name: "types of tests, examples and tooling",
    run: () => tool("tsc", ["-p", "tsconfig.test.json"]),
  },
  {
    name: "unused files, exports and dependencies (knip)",
    run: () => tool("knip", ["--no-config-hints", "--no-progress"]),
  },
  {
    name: "bill of materials of the packed packages (CycloneDX)",
    run: () => {
      const file = join(root, ".ci", ".report", "latchkey.cdx.json");
      return run(process.execPath, [join(root, ".ci", "sbom.mjs"), scratch, file]);
    },
  },
  {
    name: "format and lint (biome)",
    run: () =>
      tool("biome", ["ci", "--colors=off", "--error-on-warnings", "--max-diagnostics=200"]),
  },
  ...publicPackages().map((directory) => ({
    name: `packed ${directory} (publint, attw)`,
    run: () => checkPacked(directory, scratch),
  })),
];
const results = [];
for (const check of first) results.push(await report(check));
const waiting = others.values();
// As many at once as there are processors: each check takes the next one that waits.
const lanes = Array.from({ length: availableParallelism() }, async () => {
  for (const check of waiting) results.push(await report(check));
});
await Promise.all(lanes);
rmSync(scratch, { recursive: true, force: true });

const failed = results.filter(({ isOk }) => !isOk);
for (const { name, output } of failed) console.log(`\n--- ${name} ---\n${output.trim()}`);
if (failed.length > 0) {
  console.log(`\n${failed.length} of ${results.length} checks failed`);
  process.exitCode = 1;
}
