import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package, and that of the repository. */
export const PACKAGE_FOLDER: string = fileURLToPath(new URL("../..", import.meta.url));
export const REPOSITORY: string = join(PACKAGE_FOLDER, "..", "..");

/** The pages whose programs and links are tested; the first is the front page. */
export const PAGES: readonly { readonly path: string; readonly text: string }[] = [
  "README.md",
  "packages/latchkey/README.md",
  "packages/core/README.md",
  "packages/core/src/README.md",
  "packages/memory/README.md",
  "docs/types.md",
].map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), "utf8") }));

/** Every TypeScript program of these pages. */
export const PROGRAMS: readonly { readonly title: string; readonly code: string }[] = PAGES.flatMap(
  ({ path, text }) =>
    [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""], index) => ({
      title: `program ${index + 1} of ${path}`,
      code,
    })),
);
