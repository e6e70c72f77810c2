import { readFileSync } from "node:fs";

/**
 * The URL of a file of this package. Only this file computes it, because it has the same depth in `src` and in `dist`, unlike others.
 *
 * @param path - Relative to the folder of the package.
 */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The version of this package, defined by the build. Undefined when running from the sources. */
declare const PACKAGE_VERSION: string;

/**
 * The version of this package. The sources read it from package.json, because a copy would become outdated. The published code does not
 * read it: if a host bundles this package, that file is not next to the bundle.
 */
export function packageVersion(): string {
  if (typeof PACKAGE_VERSION === "string") return PACKAGE_VERSION;
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
