import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_FOLDER, PROGRAMS, REPOSITORY } from "./testing/pages.js";
import { endOf } from "./testing/run-cli.js";

let folder = "";
let compiled: { readonly status: number | null; readonly stdout: string };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-test-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(PACKAGE_FOLDER, join(folder, "node_modules", "latchkey"), "junction");
  const scoped = join(PACKAGE_FOLDER, "node_modules", "@latchkey");
  symlinkSync(scoped, join(folder, "node_modules", "@latchkey"), "junction");
  const zod = join(REPOSITORY, "packages", "core", "node_modules", "zod");
  symlinkSync(zod, join(folder, "node_modules", "zod"), "junction");
  const types = join(REPOSITORY, "node_modules", "@types");
  symlinkSync(types, join(folder, "node_modules", "@types"), "junction");
  for (const [index, { code }] of PROGRAMS.entries())
    writeFileSync(join(folder, `${index}.mts`), runnable(code));
  compiled = compileAll();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A program that listens would never end: it is closed once it does, on a port that is free. */
function runnable(code: string): string {
  const ending = "\nserver.once('listening', () => server.close(() => latchkey.close()));\n";
  return code.includes(".listen(3000)")
    ? code.replace(".listen(3000)", ".listen(0)") + ending
    : code;
}

/** Compiles every program in one go, as strictly as this repository is. */
function compileAll() {
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  const options = ["--strict", "--skipLibCheck", "--target", "es2023", "--module", "nodenext"];
  const names = PROGRAMS.map((_, index) => `${index}.mts`);
  return spawnSync(
    process.execPath,
    [join(typescript, "bin", "tsc"), ...options, "--types", "node", ...names],
    { cwd: folder, encoding: "utf8" },
  );
}

describe("the programs of the READMEs", () => {
  test("compile, where latchkey and its packages are installed", () => {
    expect(compiled.stdout).toBe("");
    expect(compiled.status).toBe(0);
  });

  test.each(PROGRAMS.map((program, index) => ({ ...program, index })))(
    "$title runs and prints what its comments say",
    async ({ code, index }) => {
      const place = mkdtempSync(join(folder, "run-"));
      const lines = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
      // Not the settings of whoever runs the tests.
      const env = { PATH: process.env.PATH };
      const program = join(folder, `${index}.mjs`);
      const child = spawn(process.execPath, [program], { cwd: place, env });
      const { exitCode, stdout, stderr } = await endOf(child);
      expect(stderr).toBe("");
      expect(stdout.split("\n").slice(0, -1)).toEqual(lines);
      expect(exitCode).toBe(0);
    },
  );
});
