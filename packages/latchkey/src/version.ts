import { readFileSync } from "node:fs";

/** The version of this package, which the build puts in. There is none in the sources. */
declare const PACKAGE_VERSION: string;

/** The version of this package. In the sources it is that of its package.json, which need not be beside the published code. */
export function version(): string {
  if (typeof PACKAGE_VERSION === "string") return PACKAGE_VERSION;
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
