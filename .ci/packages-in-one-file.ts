import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputChunk, rolldown } from "rolldown";
import type { Plugin } from "vitest/config";
import { isPackageName } from "./bundle.mjs";

const PACKAGES = fileURLToPath(new URL("../packages", import.meta.url));

/** Marks the id of a bundled file. An id without it is a source file, which tests of its own package import. */
const MARK = "?in-one-file";

/**
 * Provides each package to the other packages as one file, bundled from its sources. Vitest resolves every import each time it is used:
 * tests of whole stores and servers took twice the CPU time when packages were loaded file by file. A package's own tests import its source
 * files.
 */
export function packagesInOneFile(): Plugin {
  const sourceOf = new Map(
    readdirSync(PACKAGES).flatMap((name) => [...readEntries(join(PACKAGES, name))]),
  );
  const bundles = new Map<string, Promise<ReadonlyMap<string, OutputChunk>>>();

  const bundleOf = (directory: string) => {
    const bundle = bundles.get(directory) ?? bundled(directory);
    bundles.set(directory, bundle);
    return bundle;
  };

  return {
    name: "packages-in-one-file",
    enforce: "pre",
    resolveId(source, importer) {
      // An import from one file of a bundle to another.
      if (importer?.endsWith(MARK) && source.startsWith("."))
        return join(dirname(importer), source) + MARK;
      const file = sourceOf.get(source);
      return file === undefined ? null : file + MARK;
    },
    async load(id) {
      if (!id.endsWith(MARK)) return null;
      const chunk = (await bundleOf(directoryOf(id))).get(id);
      if (chunk === undefined) return null;
      for (const file of chunk.moduleIds) this.addWatchFile(file);
      return { code: chunk.code, map: chunk.map?.toString() ?? null };
    },
    watchChange: (id) => {
      bundles.delete(directoryOf(id));
    },
  };
}

/** The directory of the package that a file belongs to. */
function directoryOf(file: string): string {
  const [name = ""] = relative(PACKAGES, file).split(sep);
  return join(PACKAGES, name);
}

/** The source file of each name that a package exports. */
function readEntries(directory: string): ReadonlyMap<string, string> {
  const { name, exports = {} } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const entries = new Map<string, string>();
  for (const [path, conditions] of Object.entries<Record<string, string>>(exports)) {
    const source = conditions["latchkey-source"];
    if (source !== undefined) entries.set(name + path.slice(1), join(directory, source));
  }
  return entries;
}

/** The files of a bundle, by id. The path of an entry is that of its source, so that it finds the same files on disk. */
async function bundled(directory: string): Promise<ReadonlyMap<string, OutputChunk>> {
  const src = join(directory, "src");
  const input = Object.fromEntries(
    [...readEntries(directory).values()].map((file) => [
      relative(src, file).replace(/\.ts$/, ""),
      file,
    ]),
  );
  const bundle = await rolldown({ input, platform: "node", external: isPackageName });
  const { output } = await bundle.generate({
    dir: src,
    sourcemap: true,
    entryFileNames: "[name].ts",
    chunkFileNames: "shared-[hash].ts",
  });
  const files = new Map<string, OutputChunk>();
  for (const file of output)
    if (file.type === "chunk") files.set(join(src, file.fileName) + MARK, file);
  return files;
}
