import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createLatchkey } from "@latchkey/core";
import { openApiDocument } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { tempFolder } from "./testing/temp-folder.js";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const root = join(packageFolder, "..", "..");
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

const pages = [
  "README.md",
  "packages/latchkey/README.md",
  "packages/core/README.md",
  "packages/memory/README.md",
].map((path) => ({
  path,
  text: readFileSync(join(root, path), "utf8"),
}));

const programs = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""], index) => ({
    title: `program ${index + 1} of ${path}`,
    code,
  })),
);

/** Runs a program in a new folder in which latchkey and its packages are installed, on the sources. */
function run(code: string) {
  const folder = tempFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules", "latchkey"), "junction");
  const scoped = join(packageFolder, "node_modules", "@latchkey");
  symlinkSync(scoped, join(folder, "node_modules", "@latchkey"), "junction");
  // A program that listens would never end: it is closed once it does, on a port that is free.
  const ending = "\nserver.once('listening', () => server.close(() => latchkey.close()));\n";
  const program = code.includes(".listen(3000)")
    ? code.replace(".listen(3000)", ".listen(0)") + ending
    : code;
  writeFileSync(join(folder, "main.mts"), program);
  return spawnSync(
    process.execPath,
    ["--conditions=latchkey-source", "--import", tsx, "main.mts"],
    // Not the settings of whoever runs the tests.
    { cwd: folder, encoding: "utf8", env: { PATH: process.env.PATH } },
  );
}

describe("the README", () => {
  test.each(programs)("$title runs and prints what its comments say", ({ code }) => {
    const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
    const { status, stdout, stderr } = run(code);
    expect(stderr).toBe("");
    expect(stdout.split("\n").slice(0, -1)).toEqual(expected);
    expect(status).toBe(0);
  });

  test("begins with a program and exactly two commands", () => {
    const [opening = ""] = pages[0]?.text.split("\n## ") ?? [];
    expect(programs[0]?.title).toBe("program 1 of README.md");
    expect(opening.match(/^npm run \w+|^npm \w+/gm)).toEqual(["npm run demo", "npm test"]);
  });

  test("names every operation", () => {
    const latchkey = createLatchkey({ store: memoryStore() });
    const noOperations = ["workspaceId", "workspace", "actingAs", "close", "now"];
    const operations = Object.keys(latchkey).filter((name) => !noOperations.includes(name));
    const missing = operations.filter((name) => !pages[0]?.text.includes(`\n| \`${name}\` |`));
    expect(missing).toEqual([]);
  });

  test("lists every HTTP operation that is served, each with its method", () => {
    const table = /\n\| \| GET \| POST \|\n.*\n((?:\|.*\n)+)/.exec(pages[0]?.text ?? "")?.[1] ?? "";
    const listed = table
      .trim()
      .split("\n")
      .flatMap((row) => {
        const [, , get = "", post = ""] = row.split("|");
        return [...named("get", get), ...named("post", post)];
      });
    const { paths } = openApiDocument();
    const served = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path.replace(/^\/v1\//, "")}`),
    );
    expect(listed.sort()).toEqual([...served, ...PAGES].sort());
  });

  test("links only to files that are there", () => {
    const broken = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map(([, target = ""]) => join(dirname(path), target))
        .filter((target) => !existsSync(join(root, target))),
    );
    expect(broken).toEqual([]);
  });
});

/** What is served and is no operation of the document. */
const PAGES = ["get docs", "get openapi.json"];

function named(method: string, cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => `${method} ${name}`);
}
