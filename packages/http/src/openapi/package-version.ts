import { readFileSync } from "node:fs";
import { packageFile } from "../package-file.js";

/** The version of this package, read from its package.json: a copy in the source would become outdated. */
export function packageVersion(): string {
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
