import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package. */
export const PACKAGE_FOLDER: string = fileURLToPath(new URL("../..", import.meta.url));
export const REPOSITORY: string = join(PACKAGE_FOLDER, "..", "..");

const REFERENCE = readdirSync(join(REPOSITORY, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`)
  .sort();

/** The pages whose programs and links are tested; the first is the front page. */
export const PAGES: readonly { readonly path: string; readonly text: string }[] = [
  "README.md",
  "packages/latchkey/README.md",
  "packages/core/README.md",
  "packages/core/src/README.md",
  "packages/memory/README.md",
  ...REFERENCE,
].map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), "utf8") }));

/** The text of one of these pages. */
export function textOf(path: string): string {
  return PAGES.find((page) => page.path === path)?.text ?? "";
}

/** All TypeScript programs of these pages. */
export const PROGRAMS: readonly { readonly title: string; readonly code: string }[] = PAGES.flatMap(
  ({ path, text }) =>
    [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""], index) => ({
      title: `program ${index + 1} of ${path}`,
      code,
    })),
);
