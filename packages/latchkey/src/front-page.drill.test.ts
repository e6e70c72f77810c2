import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_FOLDER, PROGRAMS, REPOSITORY } from "./testing/pages.js";

let folder = "";
let compiled: { readonly status: number | null; readonly stdout: string };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-test-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(PACKAGE_FOLDER, join(folder, "node_modules", "latchkey"), "junction");
  mkdirSync(join(folder, "node_modules", "@latchkey"));
  for (const name of readdirSync(join(REPOSITORY, "packages")))
    symlinkSync(
      join(REPOSITORY, "packages", name),
      join(folder, "node_modules", "@latchkey", name),
      "junction",
    );
  const zod = join(REPOSITORY, "packages", "core", "node_modules", "zod");
  symlinkSync(zod, join(folder, "node_modules", "zod"), "junction");
  const guard = join(REPOSITORY, "packages", "guard");
  const express = join(guard, "node_modules", "express");
  symlinkSync(express, join(folder, "node_modules", "express"), "junction");
  mkdirSync(join(folder, "node_modules", "@types"));
  for (const [name, owner] of [
    ["node", REPOSITORY],
    ["express", guard],
  ] as const)
    symlinkSync(
      join(owner, "node_modules", "@types", name),
      join(folder, "node_modules", "@types", name),
      "junction",
    );
  for (const [index, { code }] of PROGRAMS.entries())
    writeFileSync(join(folder, `${index}.mts`), runnable(code));
  compiled = compileAll();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A program that ends: a server listens on a free port, and closes once it listens. */
function runnable(code: string): string {
  const ending = "\nserver.once('listening', () => server.close(() => latchkey.close()));\n";
  return code.includes(".listen(3000)")
    ? code.replace(".listen(3000)", ".listen(0)") + ending
    : code;
}

/** Compiles all programs at once, as strictly as this repository. */
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

/** Runs the programs one after the other in one process, each in its own folder, and writes their output to a file. */
const RUNNER = `
import { mkdirSync, writeFileSync } from "node:fs";
import { mock } from "node:test";
import { format } from "node:util";
const folder = process.cwd();
const printed = [];
for (let index = 0; index < ${PROGRAMS.length}; index += 1) {
  const lines = [];
  printed.push(lines);
  console.log = (...values) => lines.push(format(...values));
  mkdirSync("run-" + index);
  process.chdir("run-" + index);
  await import(folder + "/" + index + ".mjs").catch((error) => lines.push(String(error.stack)));
  process.chdir(folder);
  mock.reset();
}
writeFileSync("printed.json", JSON.stringify(printed));
`;

describe("the programs of the READMEs and the reference", () => {
  test("compile if latchkey and its packages are installed", () => {
    expect(compiled.stdout).toBe("");
    expect(compiled.status).toBe(0);
  });

  test("run, and print what their comments promise", () => {
    writeFileSync(join(folder, "runner.mjs"), RUNNER);
    // Without the settings of the user.
    const env = { PATH: process.env.PATH };
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", "runner.mjs"],
      {
        cwd: folder,
        env,
        encoding: "utf8",
      },
    );
    expect([stderr, status]).toEqual(["", 0]);
    const printed = JSON.parse(readFileSync(join(folder, "printed.json"), "utf8")) as string[][];
    const titled = PROGRAMS.map(({ title, code }, index) => ({
      title,
      said: [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line),
      printed: printed[index],
    }));
    expect(titled.map(({ title, printed }) => [title, printed])).toEqual(
      titled.map(({ title, said }) => [title, said]),
    );
  });
});
