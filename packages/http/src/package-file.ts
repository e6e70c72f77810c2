import { readFileSync } from "node:fs";

/**
 * Where a file of this package is. Asked from this file alone: in `src` and in `dist` it is at the same depth, and no other is.
 *
 * @param path - From the folder of the package.
 */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The version of this package, which the build puts in. There is none in the sources. */
declare const PACKAGE_VERSION: string;

/**
 * The version of this package. In the sources it is read from its package.json: a copy would become outdated. The published code does not
 * read it, because that file is not beside a bundle that this package is part of.
 */
export function packageVersion(): string {
  if (typeof PACKAGE_VERSION === "string") return PACKAGE_VERSION;
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
