// Compiles every package into its dist/, and nothing when nothing changed: then it takes a fraction of a second.
//
// Vitest runs it before the drills, whoever starts them: they start programs from dist/, and must not test an old build.
// It may run before anything else does, so it imports Node's own modules only.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Compiles what changed. The compiler's messages are shown.
 *
 * @throws {Error} when the sources have errors.
 */
export function build() {
  const packages = join(root, "packages");
  for (const name of readdirSync(packages)) {
    removeStaleOutput(join(packages, name, "dist"), join(packages, name, "src"));
  }
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-b"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error("the build failed, see above.");
}

// The name under which Vitest calls it.
export { build as setup };

/**
 * Removes compiled files whose source is gone: tsc leaves them, and they would be published.
 *
 * @param {string} dist
 * @param {string} source
 */
function removeStaleOutput(dist, source) {
  if (!existsSync(dist)) return;
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    const output = join(dist, entry.name);
    if (entry.isDirectory()) {
      removeStaleOutput(output, join(source, entry.name));
      if (readdirSync(output).length === 0) rmSync(output, { recursive: true });
      continue;
    }
    const compiled = /^(.+?)(\.d\.ts|\.js)(\.map)?$/.exec(entry.name);
    if (compiled && !existsSync(join(source, `${compiled[1]}.ts`))) rmSync(output);
  }
}
