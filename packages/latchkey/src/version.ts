import { readFileSync } from "node:fs";

/** The version of this package. Only this file reads it, because it is at the same depth in `src` and in `dist`. */
export function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
