import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { coreLevels } from "./core-levels.js";
import { isTestFile, parseFile, readPackages, type SourceFile } from "./sources.js";

/** Which packages the sources of a package may import. A new package gets a line here. */
const allowedArrows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  memory: ["core"],
  sqlite: ["core"],
  redis: ["core"],
  http: ["core"],
  conformance: ["core"],
  latchkey: ["core", "memory", "sqlite", "redis", "http"],
  bench: ["core", "memory", "sqlite", "redis", "http", "latchkey"],
};

/** What test files may import beyond that, as devDependencies. */
const allowedInTests: Readonly<Record<string, readonly string[]>> = {
  memory: ["conformance"],
  sqlite: ["conformance"],
  redis: ["conformance"],
  http: ["memory", "sqlite"],
  conformance: ["memory"],
  latchkey: ["conformance"],
};

const coreDependencies = ["@noble/ciphers", "@noble/hashes", "ipaddr.js", "nanoid", "zod"];

const maxLines = 400;

const packages = readPackages();
const directoryOf = new Map(packages.map(({ directory, manifest }) => [manifest.name, directory]));
const core = packages.find(({ directory }) => directory === "core");
const coreSources = (core?.files ?? []).filter(({ path }) => !isTestFile(path));

/** The packages of this repository among module names, by directory name. */
function ours(modules: Iterable<string>): string[] {
  return [...modules].flatMap((name) => {
    const parts = name.split("/");
    const packageName = name.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
    return directoryOf.get(packageName) ?? [];
  });
}

/** The file a relative import names, as its path below src without the ending. */
function importedFile(file: SourceFile, specifier: string): string {
  const path = posix.join(posix.dirname(file.path), specifier);
  return path.replace(/^src\//, "").replace(/\.(js|ts)$/, "");
}

/** The level of a file of core, or undefined when the table does not list it. */
function levelOf(name: string): number | undefined {
  const entry = name.startsWith("operations/") ? "operations/*" : name;
  const level = coreLevels.findIndex((names) => names.includes(entry));
  return level === -1 ? undefined : level;
}

/** Each import that breaks the levels, in words. */
function levelBreaches(file: SourceFile): string[] {
  const name = importedFile(file, `./${posix.basename(file.path)}`);
  const level = levelOf(name);
  if (level === undefined) return [`${name} is missing in .ci/core-levels.ts`];
  return file.imports
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => importedFile(file, specifier))
    .filter((imported) => (levelOf(imported) ?? Number.POSITIVE_INFINITY) >= level)
    .map((imported) => `${name} (level ${level}) imports ${imported} (level ${levelOf(imported)})`);
}

describe("arrows between packages", () => {
  test("every package has its line in the table of allowed arrows", () => {
    const missing = packages.filter(({ directory }) => !(directory in allowedArrows));
    expect(missing.map(({ directory }) => directory)).toEqual([]);
  });

  test.each(packages)("sources of $directory import only what the design allows", (from) => {
    const allowed = allowedArrows[from.directory] ?? [];
    const forbidden = from.files
      .filter(({ path }) => !isTestFile(path))
      .flatMap(({ path, imports }) =>
        ours(imports)
          .filter((to) => to !== from.directory && !allowed.includes(to))
          .map((to) => `${from.directory}/${path} -> ${to}`),
      );
    expect(forbidden).toEqual([]);
  });

  test.each(packages)("test files of $directory import only what the design allows", (from) => {
    const allowed = [
      ...(allowedArrows[from.directory] ?? []),
      ...(allowedInTests[from.directory] ?? []),
    ];
    const forbidden = from.files
      .filter(({ path }) => isTestFile(path))
      .flatMap(({ path, imports }) =>
        ours(imports)
          .filter((to) => to !== from.directory && !allowed.includes(to))
          .map((to) => `${from.directory}/${path} -> ${to}`),
      );
    expect(forbidden).toEqual([]);
  });

  test.each(packages)(
    "package.json of $directory depends only on what the design allows",
    (from) => {
      const { dependencies, peerDependencies, optionalDependencies, devDependencies } =
        from.manifest;
      const shipped = Object.keys({
        ...dependencies,
        ...peerDependencies,
        ...optionalDependencies,
      });
      const allowed = allowedArrows[from.directory] ?? [];
      const allowedAsDev = [...allowed, ...(allowedInTests[from.directory] ?? [])];
      expect(ours(shipped).filter((to) => !allowed.includes(to))).toEqual([]);
      expect(
        ours(Object.keys(devDependencies ?? {})).filter((to) => !allowedAsDev.includes(to)),
      ).toEqual([]);
    },
  );

  test.each(packages)("no file of $directory reaches into another package by path", ({ files }) => {
    const reaching = files.flatMap((file) =>
      file.imports
        .filter((specifier) => specifier.startsWith("."))
        .filter((specifier) => posix.join(posix.dirname(file.path), specifier).startsWith(".."))
        .map((specifier) => `${file.path} imports ${specifier}`),
    );
    expect(reaching).toEqual([]);
  });

  test("core depends at run time on its five libraries and nothing else", () => {
    const { dependencies, peerDependencies, optionalDependencies } = core?.manifest ?? {};
    const shipped = { ...dependencies, ...peerDependencies, ...optionalDependencies };
    expect(coreDependencies).toEqual(expect.arrayContaining(Object.keys(shipped)));
  });
});

describe("levels inside core", () => {
  test("no file is listed twice", () => {
    const names = coreLevels.flat();
    expect(names).toEqual([...new Set(names)]);
  });

  test("each file is in the table and imports only from lower levels", () => {
    expect(coreSources.flatMap(levelBreaches)).toEqual([]);
  });

  test("only latchkey.ts reads the clock or takes randomness that is not handed in", () => {
    const impure =
      /\bDate\.now\b|\bMath\.random\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\.now\b/;
    const found = coreSources.filter(
      ({ path, code }) => path !== "src/latchkey.ts" && impure.test(code),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe("files", () => {
  test.each(packages)(`no file of $directory is longer than ${maxLines} lines`, ({ files }) => {
    const long = files.filter(({ text }) => text.trimEnd().split("\n").length > maxLines);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test.each(packages)("sources of $directory name what they export, one by one", ({ files }) => {
    const sources = files.filter(({ path }) => path.startsWith("src/"));
    expect(sources.filter((file) => file.hasStarExport).map(({ path }) => path)).toEqual([]);
    expect(sources.filter((file) => file.hasDefaultExport).map(({ path }) => path)).toEqual([]);
  });

  test.each(packages)("every name that $directory exports has a docstring", ({ files }) => {
    const undocumented = [...(files.find(({ path }) => path === "src/index.ts")?.exports ?? [])]
      .filter(([, { from }]) => from === null || from.startsWith("."))
      .filter(([, { from, name }]) => {
        const path =
          from === null ? "src/index.ts" : posix.join("src", from).replace(/\.js$/, ".ts");
        const file = files.find((candidate) => candidate.path === path);
        return !(file && isDocumented(file, name));
      });
    expect(undocumented.map(([exported]) => exported)).toEqual([]);
  });
});

/** Whether a docstring stands right before the declaration of `name`. A name passed on counts as documented. */
function isDocumented(file: SourceFile, name: string): boolean {
  if (file.exports.get(name)?.from) return true;
  const kinds = "(?:const|let|(?:async )?function\\*?|(?:abstract )?class|interface|type|enum)";
  const declaration = new RegExp(`\\*/\\s*export (?:declare )?${kinds} ${name}\\b`);
  return declaration.test(file.text);
}

describe("these tests themselves", () => {
  test("see every form of import", () => {
    const { imports } = parseFile(
      "src/example.ts",
      `import type { A } from "./a.js"; import "./b.js"; export { c } from "./c.js"; export * from "./d.js";
       type E = import("./e.js").E; const f = await import("./f.js"); // import "./g.js"
       /** import { h } from "./h.js" */`,
    );
    expect(imports.toSorted()).toEqual([
      "./a.js",
      "./b.js",
      "./c.js",
      "./d.js",
      "./e.js",
      "./f.js",
    ]);
  });

  test("see star exports and default exports", () => {
    expect(parseFile("src/a.ts", 'export * from "./b.js";')).toMatchObject({ hasStarExport: true });
    expect(parseFile("src/a.ts", 'export * as b from "./b.js";')).toMatchObject({
      hasStarExport: true,
    });
    expect(parseFile("src/a.ts", "export default 1;")).toMatchObject({ hasDefaultExport: true });
    expect(parseFile("src/a.ts", "const a = 1; export { a as default };")).toMatchObject({
      hasDefaultExport: true,
    });
    expect(parseFile("src/a.ts", "export const a = 1;")).toMatchObject({
      hasStarExport: false,
      hasDefaultExport: false,
    });
  });

  test("see an import from the same level, from a higher one and from an unlisted file", () => {
    const [lowest = [], second = []] = coreLevels;
    const importing = (name: string, target: string) =>
      levelBreaches(parseFile(`src/${name}.ts`, `import { x } from "./${target}.js";`));
    expect(importing(String(lowest[0]), String(lowest[1]))).toHaveLength(1);
    expect(importing(String(lowest[0]), String(second[0]))).toHaveLength(1);
    expect(importing(String(second[0]), "nowhere")).toHaveLength(1);
    expect(importing("nowhere", String(lowest[0]))).toHaveLength(1);
    expect(importing(String(second[0]), String(lowest[0]))).toEqual([]);
  });

  test("keep files in operations/ apart from each other", () => {
    const breaches = (specifier: string) =>
      levelBreaches(parseFile("src/operations/a.ts", `import { x } from "${specifier}";`));
    expect(breaches("./b.js")).toHaveLength(1);
    expect(breaches("../errors.js")).toEqual([]);
  });
});
