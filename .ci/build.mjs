// Builds every package into its dist/. If nothing changed, that takes a fraction of a second.
//
// TypeScript checks the sources and writes declarations to build/; bundle.mjs makes dist/ from both.
//
// Vitest always runs it before the drills: they start programs from dist/, and must not test an old build. It is loaded before anything is
// installed, so it imports only Node's own modules, and the bundler only when it builds.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Builds the packages that changed, and shows the compiler's messages.
 *
 * @throws {Error} If the sources have errors.
 */
export async function build() {
  const packages = join(root, "packages");
  const directories = readdirSync(packages)
    .map((name) => join(packages, name))
    .filter((directory) => existsSync(join(directory, "tsconfig.json")));
  for (const directory of directories)
    removeStaleOutput(join(directory, "build"), join(directory, "src"));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-b"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error("the build failed, see above.");
  const { bundle } = await import("./bundle.mjs");
  for (const directory of directories) await bundle(directory);
}

// The name under which Vitest calls it.
export { build as setup };

/**
 * Removes declarations of deleted sources, because tsc keeps them.
 *
 * @param {string} output
 * @param {string} source
 */
function removeStaleOutput(output, source) {
  if (!existsSync(output)) return;
  for (const entry of readdirSync(output, { withFileTypes: true })) {
    const path = join(output, entry.name);
    if (entry.isDirectory()) {
      removeStaleOutput(path, join(source, entry.name));
      if (readdirSync(path).length === 0) rmSync(path, { recursive: true });
      continue;
    }
    const name = /^(.+)\.d\.ts$/.exec(entry.name)?.[1];
    if (name === undefined) continue;
    const isThere = [".ts", ".tsx"].some((ending) => existsSync(join(source, `${name}${ending}`)));
    if (!isThere) rmSync(path);
  }
}
