import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readPackages, root, type SourceFile } from "./sources.js";

/** Test files that `vitest list` reports, by project name, as paths from the root of the repository. */
const listed = new Map<string, string[]>();

/** Whether a package has no code yet. */
function isPlaceholder(files: readonly { code: string }[]): boolean {
  return files.every(({ code }) => code.replace(/^#!.*\n/, "").trim() === "export {};");
}

/** Recurses by itself, because a recursive readdir follows the links in node_modules from package to package. */
function testFilesBelow(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules") return [];
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return testFilesBelow(path);
    return path.endsWith(".test.ts") ? [path] : [];
  });
}

beforeAll(() => {
  // Asks the runner itself: Vitest 4 silently ignores a workspace file that it is not pointed at.
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "list", "--filesOnly", "--json", "--config", "vitest.workspace.ts"];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`vitest list failed: ${stderr || stdout}`);
  const entries: { file: string; projectName: string }[] = JSON.parse(stdout);
  for (const { file, projectName } of entries) {
    const path = relative(root, file).split(sep).join("/");
    listed.set(projectName, [...(listed.get(projectName) ?? []), path].sort());
  }
});

const packages = readPackages();

const isDrill = (path: string) => path.endsWith(".drill.test.ts");

/** A file, and the files of its package that it imports by path, directly or not. */
function reachedFrom(file: SourceFile, files: readonly SourceFile[]): Set<SourceFile> {
  const reached = new Set([file]);
  for (const { path, imports } of reached) {
    for (const specifier of imports.filter((name) => name.startsWith("."))) {
      const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");
      const found = files.find((candidate) => candidate.path === target);
      if (found !== undefined) reached.add(found);
    }
  }
  return reached;
}

describe("the runner picks up", () => {
  const written = [".ci", "packages", "examples"].flatMap(testFilesBelow).sort();

  test("every test file that is no drill, in the project `tests` or `alone`", () => {
    const picked = [...(listed.get("tests") ?? []), ...(listed.get("alone") ?? [])].sort();
    expect(picked).toEqual(written.filter((path) => !isDrill(path)));
  });

  test("every drill, in the project `drills`", () => {
    expect(listed.get("drills")).toEqual(written.filter(isDrill));
  });

  test.each(packages)("tests in $directory, if it has any code", (pkg) => {
    const { directory, files } = pkg;
    const ofPackage = written.filter((path) => path.startsWith(`packages/${directory}/`));
    expect(isPlaceholder(files) || ofPackage.length > 0, `${directory} has no tests`).toBe(true);
  });
});

describe("compiled programs", () => {
  const tests = packages.flatMap(({ directory, files }) =>
    files
      .filter(({ path }) => path.endsWith(".test.ts"))
      .map((file) => ({ file, files, name: `${directory}/${file.path}` })),
  );
  // A package's page in dist/ is only served, and is no program.
  const starting = tests.filter(({ file, files }) =>
    [...reachedFrom(file, files)].some(({ code }) => /["'](?:\.\.\/)+dist\/(?!page\/)/.test(code)),
  );

  test("are started by some tests", () => {
    expect(starting).not.toEqual([]);
  });

  test("are started only by drills, because only before drills they are built", () => {
    const others = starting.filter(({ name }) => !isDrill(name));
    expect(others.map(({ name }) => name)).toEqual([]);
  });
});
