import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { REFUSAL_FORMS } from "./refusal-form.js";

const guardFolder = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(guardFolder, "README.md"), "utf8");

/** Installs this package and `latchkey` beside each other, as a user has them. */
function install(): string {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-guard-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@latchkey"), { recursive: true });
  symlinkSync(guardFolder, join(modules, "@latchkey", "guard"), "junction");
  symlinkSync(join(guardFolder, "..", "latchkey"), join(modules, "latchkey"), "junction");
  for (const scope of ["@koa", "@nestjs", "@trpc", "@types"]) mkdirSync(join(modules, scope));
  for (const name of [
    ...["express", "fastify", "hono", "koa", "elysia", "rxjs", "@koa/router", "@trpc/server"],
    ...["@nestjs/common", "@nestjs/core", "@types/express", "@types/koa"],
  ])
    symlinkSync(join(guardFolder, "node_modules", name), join(modules, name), "junction");
  symlinkSync(
    join(guardFolder, "../../node_modules/@types/node"),
    join(modules, "@types/node"),
    "junction",
  );
  return folder;
}

test("every program of the README compiles, as strictly as a user may have it", () => {
  const folder = install();
  const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const names = programs.map((_, index) => `${index}.mts`);
  for (const [index, code] of programs.entries()) writeFileSync(join(folder, `${index}.mts`), code);
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      join(typescript, "bin", "tsc"),
      ...["--strict", "--noEmit", "--skipLibCheck", "--target", "es2023", "--module", "nodenext"],
      ...["--exactOptionalPropertyTypes", "--experimentalDecorators", "--types", "node", ...names],
    ],
    { cwd: folder, encoding: "utf8" },
  );
  expect([stdout, status]).toEqual(["", 0]);
  expect(names).toHaveLength(12);
});

test("the README has a row for every refusal, with its status", () => {
  for (const [code, { status }] of Object.entries(REFUSAL_FORMS)) {
    const row = readme
      .split("\n")
      .find((line) => line.startsWith("| `") && line.includes(`\`${code}\``));
    expect(row, code).toMatch(new RegExp(`\\| ${status}\\b`));
  }
});
