import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { openApiDocument } from "./document.js";

const BUNDLED = new URL("../../dist/index.js", import.meta.url).href;

// Core and http have a copy of zod each, and the document is written by the one from schemas of the other.
test("the document of the package as it is published is that of the sources", () => {
  const script = `import { openApiDocument } from "${BUNDLED}";
    process.stdout.write(JSON.stringify(openApiDocument()));`;
  const args = ["--input-type=module", "--eval", script];
  const written = execFileSync(process.execPath, args, { encoding: "utf8" });
  expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});
