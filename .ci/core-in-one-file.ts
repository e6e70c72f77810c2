import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { Plugin } from "vitest/config";
import { isPackageName } from "./bundle.mjs";

const NAME = "@latchkey/core";
const ENTRY = fileURLToPath(new URL("../packages/core/src/index.ts", import.meta.url));

/** Apart from the file itself, which tests of core import together with others of its files. */
const ID = `${ENTRY}?in-one-file`;

/**
 * Gives core to the other packages as one file, made of its sources. Vitest looks up what a file imports each time it is used: tests of
 * whole stores and servers took twice the CPU time while core came file by file. Core's own tests import its files one by one.
 */
export function coreInOneFile(): Plugin {
  return {
    name: "core-in-one-file",
    enforce: "pre",
    resolveId: (source) => (source === NAME ? ID : null),
    async load(id) {
      if (id !== ID) return null;
      const bundle = await rolldown({ input: ENTRY, platform: "node", external: isPackageName });
      const { output } = await bundle.generate({ dir: dirname(ENTRY), sourcemap: true });
      const [{ code, map, moduleIds }] = output;
      for (const file of moduleIds) this.addWatchFile(file);
      return { code, map: map?.toString() ?? null };
    },
  };
}
