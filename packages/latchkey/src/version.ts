import { readFileSync } from "node:fs";

/** The version of this package. Asked from this file alone: in `src` and in `dist` it is at the same depth. */
export function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
