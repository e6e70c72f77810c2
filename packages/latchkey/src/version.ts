import { readFileSync } from "node:fs";

/** The version of this package, inserted by the build. Undefined in the sources. */
declare const PACKAGE_VERSION: string;

/** The version of this package. Only the sources read package.json, because it may be missing next to published code. */
export function version(): string {
  if (typeof PACKAGE_VERSION === "string") return PACKAGE_VERSION;
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
