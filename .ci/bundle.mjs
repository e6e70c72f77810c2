// Makes the dist/ of a package from its sources and from the declarations that tsc wrote to its build/: one file of code and one of types
// for each entry, so that importing a package reads a few files and not hundreds.
//
// See packages/core/decisions/0026-bundles-and-the-schema-library.md.

import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {Readonly<Record<string, string>>} Entries Name of an output, without its extension -> the source.
 */

/** Files that every bundle depends on, besides the package's own files. */
const SHARED_INPUTS = [
  fileURLToPath(import.meta.url),
  fileURLToPath(new URL("../pnpm-lock.yaml", import.meta.url)),
  fileURLToPath(new URL("../tsconfig.base.json", import.meta.url)),
];

/** Whether a module id is the name of a package, not a path. @param {string} id */
export const isPackageName = (id) => !/^(?:[./]|[A-Za-z]:\\)/.test(id);

/**
 * Packages that are bundled into those that use them; all others stay imports. zod, loaded file by file, takes longer than all the rest of
 * core. The others are CommonJS: before Node.js imports the first CommonJS module it starts a parser for them, which takes longer than the
 * module itself.
 */
export const BUNDLED = ["zod", "ipaddr.js", "sorted-btree"];

/** Packages in which variables get short names, except functions and classes. core has a size limit, which check.mjs enforces. */
const WITH_SHORT_NAMES = ["core"];

/** The name of the file that a package is bundled into, without its extension. @param {string} name */
export const chunkOf = (name) => name.replace(/\.js$/, "");

/** @param {string} id */
const isExternal = (id) =>
  isPackageName(id) && !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`));

/**
 * Bundles a package, unless its dist/ is up to date.
 *
 * @param {string} directory
 */
export async function bundle(directory) {
  const stampFile = join(directory, "build", ".bundled");
  const stamp = fingerprint(directory);
  const isDone = existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
  if (isDone && existsSync(join(directory, "dist"))) return;
  rmSync(stampFile, { force: true });
  rmSync(join(directory, "dist"), { recursive: true, force: true });
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const { code, types } = entriesOf(manifest);
  await bundleCode(directory, code, manifest.version);
  await bundleTypes(directory, types);
  // Each worker separately: otherwise code that it shares with the package would move out of the package's files.
  for (const worker of workersBelow(join(directory, "src"))) {
    const name = withoutEnding(relative(join(directory, "src"), worker));
    await bundleCode(directory, { [name]: `src/${name}.ts` }, manifest.version);
  }
  await bundlePage(directory);
  writeFileSync(stampFile, stamp);
}

/**
 * A hash of the names, sizes and times of all files that a bundle is made from.
 *
 * @param {string} directory
 */
function fingerprint(directory) {
  const hash = createHash("sha256");
  const files = [
    ...filesBelow(join(directory, "src")),
    join(directory, "package.json"),
    ...SHARED_INPUTS,
  ];
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file}\0${size}\0${mtimeMs}\0`);
  }
  return hash.digest("hex");
}

/**
 * The entries of a package, read from its package.json: its exports, which have types, and its programs, which have none. A program in bin/
 * imports its namesake in dist/, so that it can be linked before dist/ exists. An export for tests of this repository only has no file in
 * dist/.
 *
 * @param {{ readonly exports?: Readonly<Record<string, { readonly default?: string }>>, readonly bin?: Readonly<Record<string, string>> }} manifest
 * @returns {{ readonly code: Entries, readonly types: Entries }}
 */
function entriesOf(manifest) {
  /** @type {string[]} */
  const exported = Object.values(manifest.exports ?? {}).flatMap(({ default: path }) => path ?? []);
  /** @type {string[]} */
  const programs = Object.values(manifest.bin ?? {});
  /** @param {string} path */
  const nameOf = (path) => withoutEnding(path.replace(/^\.\/(?:dist|bin)\//, ""));
  const names = exported.map(nameOf);
  return {
    code: Object.fromEntries(
      [...names, ...programs.map(nameOf)].map((name) => [name, `src/${name}.ts`]),
    ),
    types: Object.fromEntries(names.map((name) => [name, `build/${name}.d.ts`])),
  };
}

/**
 * @param {string} directory
 * @param {Entries} input
 * @param {string} [version] of the package, which some packages read at run time
 */
async function bundleCode(directory, input, version = "") {
  const { build } = await import("rolldown");
  await build({
    cwd: directory,
    input,
    external: isExternal,
    platform: "node",
    plugins: [withoutUnusedMethods(), shorten(directory)],
    // See packages/http/src/package-file.ts.
    transform: { target: "node20.19", define: { PACKAGE_VERSION: JSON.stringify(version) } },
    output: {
      dir: "dist",
      format: "esm",
      chunkFileNames: "[name].js",
      // Otherwise each chunk is printed again after the plugins, and a minified one becomes long again.
      minify: false,
      codeSplitting: {
        groups: BUNDLED.map((name) => ({ name: chunkOf(name), test: `/node_modules/${name}/` })),
      },
      // Docstrings are in the declarations.
      comments: { jsdoc: false, annotation: true, legal: true },
    },
  });
}

/** The packages that are bundled into the page of a package, with their licences. */
export const BUNDLED_IN_PAGES = ["preact"];

/**
 * Makes dist/page/ of a package that has a page: one script from src/ui/main.tsx and its imports, and one style sheet.
 *
 * @param {string} directory
 */
async function bundlePage(directory) {
  const sources = join(directory, "src", "ui");
  if (!existsSync(join(sources, "main.tsx"))) return;
  const { build } = await import("rolldown");
  const licences = BUNDLED_IN_PAGES.map((name) => {
    const licence = readFileSync(join(directory, "node_modules", name, "LICENSE"), "utf8");
    return `/*!\n${name}\n\n${licence.trim()}\n*/`;
  });
  await build({
    cwd: directory,
    input: { app: "src/ui/main.tsx" },
    tsconfig: false,
    platform: "browser",
    moduleTypes: { ".css": "text" },
    transform: { target: "es2022", jsx: { runtime: "automatic", importSource: "preact" } },
    output: { dir: "dist/page", format: "esm", minify: true, banner: licences.join("\n") },
  });
  const page = join(directory, "dist", "page");
  copyFileSync(join(sources, "app.css"), join(page, "app.css"));
  // A copy under a stable name: host applications load it into their own pages.
  if (basename(directory) === "portal")
    copyFileSync(join(page, "app.js"), join(page, "latchkey-keys.js"));
}

/**
 * Removes methods that core never calls, which saves 28 kB of core's tarball. No bundler can detect them, because methods are called by
 * name.
 *
 * zod loses the methods for formats, parts and exact sizes of strings and lists (`email`, `trim`, `length`, …), and the two that write JSON
 * Schema; the function `z.toJSONSchema` still works on our schemas. ipaddr.js loses networks, net masks and special ranges.
 *
 * @returns {import("rolldown").Plugin}
 */
function withoutUnusedMethods() {
  return {
    name: "without-unused-methods",
    transform(code, id) {
      if (/\/zod\/v4\/classic\/schemas\.js$/.test(id)) return smallerZod(code);
      if (/\/ipaddr\.js\/lib\/ipaddr\.js$/.test(id)) return smallerIpaddr(code);
      return null;
    },
  };
}

/** @param {string} code */
function smallerZod(code) {
  const formats = /(_ZodString\.init\(inst, def\);\n\}, )\{\n {4}email\([\s\S]*?\n\}\);/;
  const sizesAndTexts =
    /^ {4}(?:includes|startsWith|endsWith|lowercase|uppercase|trim|normalize|toLowerCase|toUpperCase|slugify|length|nonempty)\([\s\S]*?^ {4}\},\n/gm;
  const writers = /^import \{ createStandardJSONSchemaMethod, createToJSONSchemaMethod \} .*$/m;
  if (!formats.test(code) || !writers.test(code) || code.match(sizesAndTexts)?.length !== 14)
    throw new Error("zod defines its methods in another way: see smallerZod");
  const noWriters = [
    "const createStandardJSONSchemaMethod = () => undefined;",
    'const createToJSONSchemaMethod = () => () => { throw new TypeError("use z.toJSONSchema(schema)"); };',
  ];
  return code
    .replace(formats, "$1{});")
    .replace(sizesAndTexts, "")
    .replace(writers, noWriters.join("\n"));
}

/** Functions and tables of ipaddr.js that our code never reaches, as patterns of their definitions. */
const UNUSED_OF_IPADDR = [
  "IPv4.prototype.(?:SpecialRanges|range|toIPv4MappedAddress)",
  "IPv6.prototype.toFixedLengthString",
  "IPv[46].prototype.prefixLengthFromSubnetMask",
  "ipaddr.IPv[46].(?:broadcastAddressFromCIDR|networkAddressFromCIDR|subnetMaskFromPrefixLength)",
  "ipaddr.(?:IPv[46].)?(?:isValidCIDR|isValidCIDRFourPartDecimal|parseCIDR|fromByteArray)",
];

/** @param {string} code */
function smallerIpaddr(code) {
  const names = UNUSED_OF_IPADDR.join("|").replaceAll(".", "\\.");
  const unused = new RegExp(`^( {4,8})(?:${names}) = [\\s\\S]*?^\\1\\};$`, "gm");
  if (code.match(unused)?.length !== 20)
    throw new Error("ipaddr.js defines its methods in another way: see smallerIpaddr");
  return code.replace(unused, "");
}

/**
 * Minifies the chunk of a bundled package, and puts its licence on top. Our own code keeps the names of its functions, and a line for each
 * of them, for stack traces.
 *
 * @param {string} directory
 * @returns {import("rolldown").Plugin}
 */
function shorten(directory) {
  return {
    name: "shorten",
    async renderChunk(code, chunk) {
      const { minify } = await import("rolldown/utils");
      const bundled = BUNDLED.find((name) => chunkOf(name) === chunk.name);
      if (bundled !== undefined) {
        const licence = readFileSync(join(directory, "node_modules", bundled, "LICENSE"), "utf8");
        const small = await minify(chunk.fileName, code, { module: true });
        return `/*!\n${bundled}\n\n${licence.trim()}\n*/\n${small.code}\n`;
      }
      if (!WITH_SHORT_NAMES.includes(basename(directory))) return null;
      const small = await minify(chunk.fileName, code, {
        module: true,
        compress: { keepNames: { function: true, class: true } },
        mangle: { toplevel: true, keepNames: { function: true, class: true } },
        codegen: { removeWhitespace: true },
      });
      return onLines(small.code);
    },
  };
}

/**
 * The same code with a new line for each function, class, constant and `throw`, so that line numbers in stack traces are useful. Node.js
 * prints the line of an uncaught error: it begins with that `throw`, and is short.
 *
 * @param {string} code
 * @throws {Error} If such a line break would fall inside a string, which would change it.
 */
async function onLines(code) {
  const { minify } = await import("rolldown/utils");
  const begin = /(?<=[;}])(?=(?:async )?function\*? |class |const )|(?<=[;{})])(?=throw[ (])/g;
  const lines = code.replace(begin, "\n");
  const [one, other] = await Promise.all(
    [code, lines].map((each) => minify("index.js", each, { module: true })),
  );
  if (one?.code !== other?.code) throw new Error("a line begins within a text");
  return lines;
}

/**
 * @param {string} directory
 * @param {Entries} input
 */
async function bundleTypes(directory, input) {
  if (Object.keys(input).length === 0) return;
  const [{ build }, { dts }] = await Promise.all([
    import("rolldown"),
    import("rolldown-plugin-dts"),
  ]);
  await build({
    cwd: directory,
    input,
    external: isPackageName,
    // The declarations exist already, so no compiler is needed: "oxc" is the generator that needs none.
    plugins: [dts({ dtsInput: true, generator: "oxc", tsconfig: false }), shortenTypes],
    output: { dir: "dist", format: "esm", chunkFileNames: "[name].d.ts" },
  });
}

/**
 * Makes declarations a little smaller: indents with tabs, removes empty comment lines above a tag, gives the two ends of a comment no lines
 * of their own, removes references to pages of this repository, which are not in the package, and the word `type` from the export list at the
 * end, which is redundant in a file of types.
 *
 * @type {import("rolldown").Plugin}
 */
const shortenTypes = {
  name: "shorten-types",
  renderChunk: (code) =>
    code
      .replace(/^(?: {2})+/gm, (indent) => "\t".repeat(indent.length / 2))
      .replace(/^\t* \*\n(?=\t* \* @)/gm, "")
      .replace(/^\t* \* @see packages\/.*\n/gm, "")
      .replace(/\/\*\*\n\t* \* /g, "/** ")
      .replace(/\n\t* \*\/$/gm, " */")
      .replace(/^export \{[^}]*\};$/gm, (names) => names.replaceAll(" type ", " ")),
};

/** Programs that drills start. @param {string} folder */
function workersBelow(folder) {
  return filesBelow(folder).filter((path) => path.endsWith(".worker.ts"));
}

/** @param {string} folder @returns {string[]} */
function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** @param {string} path */
function withoutEnding(path) {
  return path
    .split(sep)
    .join("/")
    .replace(/\.[jt]s$/, "");
}
