import { readFileSync } from "node:fs";

/**
 * Where a file of this package is. Asked from this file alone: in `src` and in `dist` it is at the same depth, and no other is.
 *
 * @param path - From the folder of the package.
 */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The version of this package, read from its package.json: a copy in the source would become outdated. */
export function packageVersion(): string {
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
