import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openApiDocument } from "./index.js";

const folder = new URL("../", import.meta.url);
const readme = readFileSync(new URL("README.md", folder), "utf8");

/** What is served and is no operation of the document. */
const PAGES = ["GET docs", "GET openapi.json"];

test("the README has every operation in its table, each with its verb, and no other", () => {
  const listed = [...readme.matchAll(/^\| (`(?:GET|POST) [^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, operation]) => operation),
  );
  const served = Object.entries(openApiDocument().paths).flatMap(([path, item]) =>
    Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path.replace("/v1/", "")}`),
  );
  expect(listed.sort()).toEqual([...served, ...PAGES].sort());
});

test.each(["README.md", "UNKEY-V1.md", "SPEC.md"])("%s links only to what is there", (name) => {
  const page = readFileSync(new URL(name, folder), "utf8");
  const targets = [...page.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = ""]) => target);
  expect(targets.filter((target) => !existsSync(new URL(target, folder)))).toEqual([]);
});

test("the README links to the pages beside it", () => {
  for (const name of ["SPEC.md", "UNKEY-V1.md"]) expect(readme).toContain(`](${name})`);
});
