import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const guardFolder = fileURLToPath(new URL("../..", import.meta.url));

/** Installs this package and `latchkey` side by side, as a user has them. */
export function install(): string {
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

/** Runs the compiler in such a folder, with the strictest settings. */
export function compile(folder: string, ...args: readonly string[]) {
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  return spawnSync(
    process.execPath,
    [
      join(typescript, "bin", "tsc"),
      ...["--strict", "--skipLibCheck", "--target", "es2023", "--module", "nodenext"],
      ...["--exactOptionalPropertyTypes", "--experimentalDecorators", "--types", "node", ...args],
    ],
    { cwd: folder, encoding: "utf8" },
  );
}
