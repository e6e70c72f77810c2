import { readFileSync } from "node:fs";

/** The version of this package, read from its package.json: a copy in the source would become outdated. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
