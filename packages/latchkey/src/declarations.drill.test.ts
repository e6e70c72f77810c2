import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, onTestFinished, test } from "vitest";
import { PACKAGE_FOLDER, REPOSITORY } from "./testing/pages.js";

/** The names of everything that can be called on a latchkey. */
const CALLS = Object.entries(createLatchkey({ store: memoryStore() }))
  .filter(([, value]) => typeof value === "function")
  .map(([name]) => name);

/** A user's module, which exports a function around each call, as a service of an application does. */
const MODULE = `import { createLatchkey, keyRingsFromEnv, keySettings, memoryStore } from "latchkey";
import { createTestLatchkey } from "latchkey/testing";
export const latchkey = createLatchkey({ store: memoryStore(), permissions: ["tiles.read"] });
export const rings = keyRingsFromEnv({});
export const fixture = createTestLatchkey();
export const openSession = async () => latchkey.openPortalSession("secret");
export const settings = async () => keySettings(await latchkey.getKey({ keyId: "key_1" }));
${CALLS.map(
  (name) =>
    `export const ${name} = (...input: Parameters<typeof latchkey.${name}>) => latchkey.${name}(...input);`,
).join("\n")}
`;

const isOurs = (name: string) => name.includes("latchkey");

test("a module that exports calls of a latchkey can have declarations, through the names that the package exports", () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-declarations-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // As pnpm installs it: the user's modules can name latchkey, but not the packages that it depends on.
  const hidden = join(folder, "node_modules", ".pnpm", "node_modules");
  const { dependencies } = JSON.parse(readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8"));
  for (const name of ["latchkey", ...Object.keys(dependencies)].filter(isOurs)) {
    const source = join(REPOSITORY, "packages", name.replace("@latchkey/", ""));
    const filter = (path: string) => !path.endsWith(".js");
    cpSync(join(source, "dist"), join(hidden, name, "dist"), { recursive: true, filter });
    cpSync(join(source, "package.json"), join(hidden, name, "package.json"));
  }
  symlinkSync(join(hidden, "latchkey"), join(folder, "node_modules", "latchkey"), "junction");
  symlinkSync(
    join(REPOSITORY, "node_modules", "@types"),
    join(folder, "node_modules", "@types"),
    "junction",
  );
  writeFileSync(join(folder, "keys.mts"), MODULE);
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  const options = ["--strict", "--skipLibCheck", "--target", "es2023", "--module", "nodenext"];
  const { stdout } = spawnSync(
    process.execPath,
    [join(typescript, "bin", "tsc"), ...options, "--types", "node", "--declaration", "keys.mts"],
    { cwd: folder, encoding: "utf8" },
  );
  expect(stdout).toBe("");
  const declarations = readFileSync(join(folder, "keys.d.mts"), "utf8");
  const named = declarations.matchAll(/import\("([^"]+)"\)/g);
  expect([...new Set([...named].map(([, name]) => name))].sort()).toEqual([
    "latchkey",
    "latchkey/testing",
  ]);
});
