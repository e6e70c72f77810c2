// Writes the bill of materials (CycloneDX) of the packed packages: everything that installing them adds, and what is bundled into them.
//   node .ci/sbom.mjs <folder with tarballs, at any depth> <file to write>
//
// npm resolves the tree, so its versions are those that a user gets today. Peer dependencies, which users install themselves, are left out.
// Nothing is written unless the bill is valid and contains every dependency in a package.json.

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
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { BUNDLED, chunkOf } from "./bundle.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const schemas = join(root, "node_modules/@cyclonedx/cyclonedx-library/res/schema");

/**
 * @typedef {{ readonly name: string, readonly version: string, readonly license?: string, readonly dependencies?: Readonly<Record<string, string>> }} Manifest
 * @typedef {{ readonly manifest: Manifest, readonly bundled: readonly Manifest[] }} Packed A package as published, and the packages bundled
 * into it.
 * @typedef {{ "bom-ref": string, type: string, name: string, version: string, purl?: string, externalReferences?: { url: string, type?: string }[], [field: string]: unknown }} Component
 * @typedef {{ metadata: { component: Component, [field: string]: unknown }, components: Component[], dependencies: { ref: string, dependsOn?: string[] }[], [field: string]: unknown }} Bill
 */

/** Packages with files that are copied into ours, besides bundled ones: folder of the files -> name of the package. */
const COPIED = { "page/swagger-ui/": "swagger-ui-dist", "dist/page/": "preact" };

/** @param {Pick<Manifest, "name" | "version">} manifest */
const refOf = ({ name, version }) => `${name}@${version}`;

/** @param {string} file @returns {Manifest} */
const readManifest = (file) => JSON.parse(readFileSync(file, "utf8"));

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {string} [cwd]
 */
function outputOf(program, args, cwd = root) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, npm_config_update_notifier: "false" },
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}

/** @param {string} tarball @returns {Packed} */
function readPacked(tarball) {
  const names = outputOf("tar", ["-tzf", tarball]).split("\n");
  /** @type {Manifest} */
  const manifest = JSON.parse(outputOf("tar", ["-xOzf", tarball, "package/package.json"]));
  const modules = join(root, "packages", manifest.name.replace(/^@.*\//, ""), "node_modules");
  const bundled = BUNDLED.filter((name) => names.includes(`package/dist/${chunkOf(name)}.js`));
  const copied = Object.entries(COPIED)
    .filter(([folder]) => names.some((name) => name.startsWith(`package/${folder}`)))
    .map(([, name]) => name);
  return {
    manifest,
    bundled: [...bundled, ...copied].map((name) =>
      readManifest(join(modules, name, "package.json")),
    ),
  };
}

/**
 * npm's bill of a folder in which all tarballs are installed.
 *
 * @param {readonly string[]} tarballs
 * @returns {Bill}
 */
function resolveTree(tarballs) {
  const place = mkdtempSync(join(tmpdir(), "latchkey-sbom-"));
  try {
    const manifest = { name: "latchkey-packages", version: "0.0.0", private: true };
    writeFileSync(join(place, "package.json"), JSON.stringify(manifest));
    for (const path of tarballs) copyFileSync(path, join(place, basename(path)));
    const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const files = tarballs.map((path) => `./${basename(path)}`);
    outputOf(
      "npm",
      ["install", "--package-lock-only", "--prefer-offline", ...quiet, ...files],
      place,
    );
    const format = ["--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx"];
    return JSON.parse(outputOf("npm", ["sbom", ...format, "--loglevel=error"], place));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * The bill of the published packages: npm's, without the peers that users install, and with bundled packages.
 *
 * @param {Bill} resolved
 * @param {readonly Packed[]} packed
 * @returns {Bill}
 */
export function billOf(resolved, packed) {
  const published = new Map(packed.map((each) => [refOf(each.manifest), each]));
  const edges = new Map(resolved.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const components = new Map(resolved.components.map((each) => [each["bom-ref"], each]));
  for (const [ref, { manifest, bundled }] of published) {
    const wanted = Object.keys(manifest.dependencies ?? {});
    const found = (edges.get(ref) ?? []).filter((to) =>
      wanted.includes(components.get(to)?.name ?? ""),
    );
    edges.set(ref, [...new Set([...found, ...bundled.map(refOf)])].sort());
    for (const inside of bundled)
      if (!components.has(refOf(inside))) components.set(refOf(inside), bundledComponent(inside));
  }
  const top = { ...resolved.metadata.component, name: "latchkey" };
  const reached = new Set([...published.keys()]);
  for (const ref of reached) for (const to of edges.get(ref) ?? []) reached.add(to);
  const kept = [...reached].sort();
  return {
    ...resolved,
    metadata: { ...resolved.metadata, component: top },
    components: kept.flatMap((ref) => components.get(ref) ?? []).map(withoutLocalFiles),
    dependencies: [
      { ref: top["bom-ref"], dependsOn: [...published.keys()].sort() },
      ...kept.map((ref) => ({ ref, dependsOn: edges.get(ref) ?? [] })),
    ],
  };
}

/** @param {Manifest} manifest @returns {Component} */
function bundledComponent({ name, version, license }) {
  return {
    "bom-ref": `${name}@${version}`,
    type: "library",
    name,
    version,
    scope: "required",
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    properties: [{ name: "cdx:npm:package:bundled", value: "true" }],
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
  };
}

/** Removes paths of tarballs, which were only valid on this machine. @param {Component} component */
function withoutLocalFiles({ externalReferences = [], ...component }) {
  const remote = externalReferences.filter(({ url }) => !url.startsWith("file:"));
  return { ...component, ...(remote.length > 0 && { externalReferences: remote }) };
}

/**
 * The problems of a bill; empty if it is valid and complete.
 *
 * @param {Bill} bill
 * @param {readonly Packed[]} packed
 * @returns {string[]}
 */
export function problemsOf(bill, packed) {
  const refs = new Set(bill.components.map((each) => each["bom-ref"]));
  const edges = new Map(bill.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const dangling = [...edges].flatMap(([ref, to]) =>
    to
      .filter((each) => !refs.has(each))
      .map((each) => `${ref} depends on ${each}, which is not in it`),
  );
  const missing = packed.flatMap(({ manifest, bundled }) => {
    const ref = refOf(manifest);
    if (!refs.has(ref)) return [`${ref} is not in it`];
    const named = (edges.get(ref) ?? []).map((to) => to.slice(0, to.lastIndexOf("@")));
    const wanted = [
      ...Object.keys(manifest.dependencies ?? {}),
      ...bundled.map(({ name }) => name),
    ];
    return wanted
      .filter((name) => !named.includes(name))
      .map((name) => `${ref}: ${name} is not in it`);
  });
  const bare = bill.components
    .filter(({ purl, licenses }) => purl === undefined || licenses === undefined)
    .map((each) => `${each["bom-ref"]} has no address or no licence`);
  return [...invalid(bill), ...dangling, ...missing, ...bare];
}

/**
 * Validators of the CycloneDX schema, by version: compiling one takes half a second.
 *
 * @type {Map<unknown, import("ajv").ValidateFunction>}
 */
const validators = new Map();

/** @param {unknown} version */
function validatorOf(version) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // Formats for international addresses, which our bill does not contain.
  for (const name of ["idn-email", "iri-reference"]) ajv.addFormat(name, true);
  /** @param {string} name */
  const schema = (name) =>
    JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), "utf8"));
  for (const name of ["spdx", "jsf-0.82"])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  return ajv.compile(schema(`bom-${version}`));
}

/** Violations of the CycloneDX schema in a bill. @param {Bill} bill */
function invalid(bill) {
  const validate = validators.get(bill.specVersion) ?? validatorOf(bill.specVersion);
  validators.set(bill.specVersion, validate);
  if (validate(bill)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** @param {string} folder @returns {string[]} */
function tarballsBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return tarballsBelow(path);
    return entry.name.endsWith(".tgz") ? [path] : [];
  });
}

/** @param {string} folder @param {string} file */
function write(folder, file) {
  const tarballs = tarballsBelow(folder).sort();
  const packed = tarballs.map(readPacked);
  const bill = billOf(resolveTree(tarballs), packed);
  const problems = problemsOf(bill, packed);
  if (packed.length === 0) problems.push(`no tarball below ${folder}`);
  if (problems.length > 0) throw new Error(`the bill of materials:\n${problems.join("\n")}`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${packed.length} packages, ${bill.components.length} components: ${file}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , folder, file] = process.argv;
  if (folder === undefined || file === undefined)
    throw new Error("usage: node .ci/sbom.mjs <folder with tarballs> <file>");
  write(folder, file);
}
