import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { openApiDocument } from "./document.js";

const BUNDLED = new URL("../../dist/index.js", import.meta.url).href;

// Core and http each have a copy of zod: one writes the document from schemas of the other.
test("the published package has the same document as the sources", () => {
  const script = `import { openApiDocument } from "${BUNDLED}";
    process.stdout.write(JSON.stringify(openApiDocument()));`;
  const args = ["--input-type=module", "--eval", script];
  const written = execFileSync(process.execPath, args, { encoding: "utf8" });
  expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});
