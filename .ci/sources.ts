import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";

/** The repository's top directory, absolute. */
export const root: string = dirname(dirname(fileURLToPath(import.meta.url)));

/** The parts of a package.json that the tests here look at. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly homepage?: string;
  readonly repository?: { readonly directory: string };
  readonly bugs?: string;
  readonly keywords?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** One TypeScript file of a package. */
export interface SourceFile {
  /** Path relative to the package's directory, with forward slashes: `src/operations/create-key.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text with every comment blanked out, so that code in comments does not count. */
  readonly code: string;
  /** Every module that the file imports, values or types, in order, with repetitions. */
  readonly imports: readonly string[];
  /** Whether it has an `export *`. */
  readonly hasStarExport: boolean;
  /** Whether it has a default export. */
  readonly hasDefaultExport: boolean;
  /** For each exported name, the module it comes from, and its name there. Null: declared in the file itself. */
  readonly exports: ReadonlyMap<string, { readonly from: string | null; readonly name: string }>;
}

/** A package of the repository: its directory name below packages/, its manifest and its sources. */
export interface WorkspacePackage {
  readonly directory: string;
  readonly manifest: Manifest;
  readonly files: readonly SourceFile[];
}

/** Whether a file exists only for tests: those may import more, and are not published. */
export function isTestFile(path: string): boolean {
  return path.endsWith(".test.ts") || path.startsWith("src/testing/") || path.startsWith("test/");
}

/** Every package below packages/, ordered by name. */
export function readPackages(): WorkspacePackage[] {
  return readdirSync(join(root, "packages"))
    .sort()
    .filter((directory) => existsSync(join(root, "packages", directory, "package.json")))
    .map((directory) => {
      const base = join(root, "packages", directory);
      const manifest: Manifest = JSON.parse(readFileSync(join(base, "package.json"), "utf8"));
      const files = ["src", "test"]
        .flatMap((folder) => listFiles(base, folder))
        .map((path) => parseFile(path, readFileSync(join(base, path), "utf8")));
      return { directory, manifest, files };
    });
}

/** Parses one TypeScript file. @throws SyntaxError if it has syntax errors. */
export function parseFile(path: string, text: string): SourceFile {
  const { module, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0]?.message}`);
  let code = text;
  for (const { start, end } of comments) {
    const blank = text.slice(start, end).replace(/[^\n]/g, " ");
    code = code.slice(0, start) + blank + code.slice(end);
  }
  const entries = module.staticExports.flatMap((statement) => statement.entries);
  const imports = [
    ...module.staticImports.map((statement) => statement.moduleRequest.value),
    ...entries.flatMap((entry) => (entry.moduleRequest ? [entry.moduleRequest.value] : [])),
    // Dynamic imports and import types. They are found only if the module name is a literal.
    ...[...code.matchAll(/\bimport\(\s*["']([^"']+)["']/g)].map((match) => match[1] as string),
  ];
  const exports = new Map<string, { from: string | null; name: string }>();
  for (const entry of entries) {
    if (entry.exportName.kind !== "Name" || entry.exportName.name === null) continue;
    const name = entry.importName.name ?? entry.localName.name ?? entry.exportName.name;
    exports.set(entry.exportName.name, { from: entry.moduleRequest?.value ?? null, name });
  }
  return {
    path,
    text,
    code,
    imports,
    hasStarExport: entries.some((entry) => entry.importName.kind.startsWith("All")),
    hasDefaultExport: entries.some(
      (entry) => entry.exportName.kind === "Default" || entry.exportName.name === "default",
    ),
    exports,
  };
}

function listFiles(base: string, folder: string): string[] {
  if (!existsSync(join(base, folder))) return [];
  return readdirSync(join(base, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : listFiles(base, path);
      return /\.tsx?$/.test(entry.name) ? [path] : [];
    });
}
