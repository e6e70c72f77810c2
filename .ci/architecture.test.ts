import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { isTestFile, type Manifest, parseFile, readPackages, type SourceFile } from "./sources.js";

/** Which packages the sources of a package may import. A new package gets a line here. */
const allowedArrows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  memory: ["core"],
  sqlite: ["core"],
  redis: ["core"],
  postgres: ["core"],
  http: ["core"],
  conformance: ["core"],
  guard: ["core"],
  otel: ["core"],
  webhooks: ["core"],
  import: ["core"],
  transfer: ["core"],
  console: ["core", "http"],
  portal: ["core", "http"],
  latchkey: [
    "core",
    "import",
    "transfer",
    "memory",
    "sqlite",
    "redis",
    "postgres",
    "http",
    "console",
  ],
  bench: ["core", "memory", "sqlite", "redis", "postgres", "http", "latchkey"],
  simulation: ["core", "guard", "memory", "postgres", "redis", "sqlite", "transfer", "webhooks"],
  site: ["core", "http", "memory"],
};

/** Packages that test files may import in addition, as devDependencies. */
const allowedInTests: Readonly<Record<string, readonly string[]>> = {
  memory: ["conformance"],
  sqlite: ["conformance"],
  redis: ["conformance"],
  postgres: ["conformance"],
  http: ["memory", "sqlite"],
  conformance: ["memory"],
  guard: ["memory", "sqlite", "redis", "postgres"],
  otel: ["memory"],
  webhooks: ["memory", "sqlite", "redis", "postgres"],
  console: ["guard", "memory", "sqlite", "webhooks"],
  portal: ["memory", "sqlite", "console"],
  import: ["memory", "sqlite", "postgres", "http"],
  transfer: ["memory", "sqlite", "redis", "postgres"],
  latchkey: ["conformance"],
};

const coreDependencies = ["@noble/ciphers", "@noble/hashes", "ipaddr.js", "jose", "nanoid", "zod"];

/**
 * The rooms of packages/core/src, lowest level first. A file imports from its own room and from levels below, never from another
 * room on its level. A file at the top level is its own room.
 */
const coreLevels = [
  ["errors"],
  ["time"],
  ["lib"],
  ["secrets", "rules"],
  ["records"],
  ["store"],
  ["verification", "adapters"],
  ["audit", "statistics"],
  ["operations"],
  ["bound-latchkey"],
  ["latchkey"],
  ["index"],
];

/** Fewest and most files of a room: fewer do not justify a folder, and more cannot be seen at a glance. */
const roomSize = { fewest: 5, most: 20 };

/** The files that each store package has in src, one per method or group of methods: someone who knows one store finds their way in all. */
const storeFiles = ["store", "read", "page", "commit", "charge", "statistics"];

const maxLines = 400;

const packages = readPackages();
const directoryOf = new Map(packages.map(({ directory, manifest }) => [manifest.name, directory]));
const core = packages.find(({ directory }) => directory === "core");
const coreSources = (core?.files ?? []).filter(({ path }) => !isTestFile(path));

/** Directory names of those modules that are packages of this repository. */
function ours(modules: Iterable<string>): string[] {
  return [...modules].flatMap((name) => {
    const parts = name.split("/");
    const packageName = name.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
    return directoryOf.get(packageName) ?? [];
  });
}

/** The file that a relative import names: its path below src, without the extension. */
function importedFile(file: SourceFile, specifier: string): string {
  const path = posix.join(posix.dirname(file.path), specifier);
  return path.replace(/^src\//, "").replace(/\.(js|ts)$/, "");
}

/** The room of a file of core: its folder, or its own name at the top level. */
function roomOf(name: string): string {
  return name.split("/")[0] ?? name;
}

/** The level of a room; -1: it is in no level. */
function levelOf(room: string): number {
  return coreLevels.findIndex((rooms) => rooms.includes(room));
}

function importsWithin(file: SourceFile): string[] {
  return file.imports
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => importedFile(file, specifier));
}

function nameOf({ path }: SourceFile): string {
  return path.replace(/^src\//, "").replace(/\.tsx?$/, "");
}

/** A message for each import that breaks the levels. */
function levelBreaches(file: SourceFile): string[] {
  const name = nameOf(file);
  const room = roomOf(name);
  if (levelOf(room) === -1) return [`${name} is in no room of the levels`];
  return importsWithin(file)
    .filter((imported) => {
      const level = levelOf(roomOf(imported));
      return roomOf(imported) !== room && (level === -1 || level >= levelOf(room));
    })
    .map((imported) => `${name} imports ${imported}`);
}

/** Circular imports, one path for each import that closes a circle. */
function importCircles(files: readonly SourceFile[]): string[] {
  const importsOf = new Map(files.map((file) => [nameOf(file), importsWithin(file)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(" -> "));
    else if (!done.has(name))
      for (const imported of importsOf.get(name) ?? []) visit(imported, [...path, name]);
    done.add(name);
  };
  for (const name of importsOf.keys()) visit(name, []);
  return circles;
}

describe("arrows between packages", () => {
  test("every package is in the table of allowed imports", () => {
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

  test.each(packages)("$directory has no circular imports, types included", (from) => {
    expect(importCircles(from.files)).toEqual([]);
  });

  test.each(packages)(
    "package.json of $directory says where its sources are, unless it is private",
    (from) => {
      const { homepage, repository, bugs, keywords } = from.manifest;
      const isTold =
        repository?.directory === `packages/${from.directory}` && keywords !== undefined;
      expect(
        from.manifest.private || (isTold && homepage !== undefined && bugs !== undefined),
      ).toBe(true);
    },
  );

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

  test("core depends at run time on its listed libraries and nothing else", () => {
    const { dependencies, peerDependencies, optionalDependencies } = core?.manifest ?? {};
    const shipped = { ...dependencies, ...peerDependencies, ...optionalDependencies };
    expect(coreDependencies).toEqual(expect.arrayContaining(Object.keys(shipped)));
  });
});

describe("rooms inside core", () => {
  test("each file is in a room, and imports only from its own room or from lower ones", () => {
    expect(coreSources.flatMap(levelBreaches)).toEqual([]);
  });

  test("a room has 5 to 20 files, a folder of operations up to 20", () => {
    const sizes = new Map<string, number>();
    for (const { path } of coreSources) {
      const room = posix.dirname(path).replace(/^src\/?/, "");
      sizes.set(room, (sizes.get(room) ?? 0) + 1);
    }
    const unfit = [...sizes].filter(([room, size]) => {
      // The top level is no room, and the size of a folder of operations depends on its resource.
      const fewest = room === "" || room.startsWith("operations/") ? 0 : roomSize.fewest;
      return size < fewest || size > roomSize.most;
    });
    expect(unfit.map(([room]) => room)).toEqual([]);
  });

  test("only latchkey.ts reads the clock or uses randomness that was not passed in", () => {
    const impure =
      /\bDate\.now\b|\bMath\.random\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\.now\b/;
    const found = coreSources.filter(
      ({ path, code }) => path !== "src/latchkey.ts" && impure.test(code),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe("files", () => {
  test("every store package has the same files", () => {
    // Packages that run the conformance suite have a store, except `latchkey`, which depends on all of them.
    const runsSuite = ({ devDependencies = {} }: Manifest) =>
      "@latchkey/conformance" in devDependencies;
    const stores = packages.filter(
      ({ directory, manifest }) => directory !== "latchkey" && runsSuite(manifest),
    );
    expect(stores.length).toBeGreaterThanOrEqual(4);
    const missing = stores.flatMap(({ directory, files }) =>
      storeFiles
        .filter((name) => !files.some(({ path }) => path === `src/${name}.ts`))
        .map((name) => `${directory}/src/${name}.ts`),
    );
    expect(missing).toEqual([]);
  });

  test.each(packages)(`no file of $directory is longer than ${maxLines} lines`, ({ files }) => {
    // An index is only a list of names.
    const long = files.filter(
      ({ path, text }) => path !== "src/index.ts" && text.trimEnd().split("\n").length > maxLines,
    );
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test.each(packages)(
    "sources of $directory name each export: no export *, no default export",
    ({ files }) => {
      const sources = files.filter(({ path }) => path.startsWith("src/"));
      expect(sources.filter((file) => file.hasStarExport).map(({ path }) => path)).toEqual([]);
      expect(sources.filter((file) => file.hasDefaultExport).map(({ path }) => path)).toEqual([]);
    },
  );

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

/** Whether a docstring stands right before the declaration of `name`. A re-exported name counts as documented. */
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

  test("detect an import from a higher room, from another room of the same level and from no room", () => {
    const breaches = (path: string, specifier: string) =>
      levelBreaches(parseFile(path, `import type { x } from "${specifier}";`));
    expect(breaches("src/rules/a.ts", "../records/b.js")).toEqual(["rules/a imports records/b"]);
    expect(breaches("src/rules/a.ts", "../secrets/b.js")).toHaveLength(1);
    expect(breaches("src/operations/keys/a.ts", "../../latchkey.js")).toHaveLength(1);
    expect(breaches("src/lib/a.ts", "../index.js")).toHaveLength(1);
    expect(breaches("src/rules/a.ts", "../nowhere/b.js")).toHaveLength(1);
    expect(breaches("src/nowhere/a.ts", "../lib/b.js")).toHaveLength(1);
    expect(breaches("src/rules/a.ts", "./b.js")).toEqual([]);
    expect(breaches("src/records/a.ts", "../rules/b.js")).toEqual([]);
    expect(breaches("src/operations/keys/a.ts", "../roles/b.js")).toEqual([]);
    expect(breaches("src/lib/a.ts", "../time.js")).toEqual([]);
  });

  test("detect circular imports, also if they are reached from outside the circle", () => {
    const file = (name: string, ...imports: string[]) =>
      parseFile(`src/${name}.ts`, imports.map((to) => `import "./${to}.js";`).join("\n"));
    expect(importCircles([file("a", "b"), file("b", "c", "d"), file("c", "b"), file("d")])).toEqual(
      ["b -> c -> b"],
    );
    expect(importCircles([file("a", "a")])).toEqual(["a -> a"]);
    expect(importCircles([file("a", "b", "c"), file("b", "c"), file("c")])).toEqual([]);
  });
});
