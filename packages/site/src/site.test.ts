import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "@latchkey/http";
import { describe, expect, test } from "vitest";
import { GROUPS, HOME } from "./contents.js";
import { llmsTxt } from "./for-machines.js";
import { httpReference } from "./http-reference.js";
import { withLinksOfSite } from "./links.js";
import { slugOf } from "./markdown.js";
import { firstSentenceOf, readSite } from "./pages.js";
import { REPOSITORY } from "./stage.js";

const entries = GROUPS.flatMap((group) => group.entries.map(({ file }) => file));
const reference = httpReference(openApiDocument());

describe("the contents", () => {
  test("have every page of docs/, each once", () => {
    const docs = readdirSync(join(REPOSITORY, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`);
    const listed = entries.filter((file) => file.startsWith("docs/"));
    expect([...listed].sort()).toEqual(docs.sort());
  });

  test("have the README of every public package", () => {
    const readmes = readdirSync(join(REPOSITORY, "packages"))
      .filter((name) => isPublic(join(REPOSITORY, "packages", name, "package.json")))
      .map((name) => `packages/${name}/README.md`);
    expect(entries).toEqual(expect.arrayContaining(readmes));
  });

  test("contain everything that the home page links to", () => {
    const home = readFileSync(join(REPOSITORY, HOME), "utf8");
    const links = [...home.matchAll(/link: \/(\S+)/g)].map(([, path]) => `docs/${path}.md`);
    expect(links.length).toBeGreaterThan(4);
    expect(entries).toEqual(expect.arrayContaining(links));
  });
});

function isPublic(manifest: string): boolean {
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).private !== true;
}

describe("five minutes", () => {
  const EXAMPLES = {
    express: "06-express",
    fastify: "07-fastify",
    hono: "08-hono",
    nextjs: "09-next",
    koa: "14-koa",
    nestjs: "15-nest",
    elysia: "16-elysia",
    trpc: "17-trpc",
    node: "02-node-server",
  };

  test.each(Object.entries(EXAMPLES))("with %s show the program of an example", (name, example) => {
    const page = readFileSync(join(REPOSITORY, "docs", "start", `${name}.md`), "utf8");
    const programs = [
      ...page.matchAll(/`(\S+\.(?:mjs|ts))`:\n\n```(?:js|typescript)\n(.*?)^```$/gms),
    ];
    expect(programs.map(([, file]) => file)).toContain("main.mjs");
    for (const [, file = "", program] of programs)
      expect(program).toBe(readFileSync(join(REPOSITORY, "examples", example, file), "utf8"));
  });

  test("have a page for each of them", () => {
    const pages = readdirSync(join(REPOSITORY, "docs", "start")).map((file) =>
      file.replace(".md", ""),
    );
    expect(pages.sort()).toEqual(Object.keys(EXAMPLES).sort());
  });
});

describe("links of a page", () => {
  const onSite = (text: string) =>
    withLinksOfSite(text, "docs/recipes/plans.md", "recipes/plans.md", {
      pageOf: (file) => (file === "packages/core/README.md" ? "packages/core.md" : undefined),
      kindOf: (path) =>
        path === "examples" ? "folder" : path.endsWith(".ts") ? "file" : undefined,
      pictureOf: (file) => `pictures/${file.replaceAll("/", "-")}`,
    });
  const AT = "https://github.com/latchkey-js/latchkey";

  test.each([
    ["[core](../../packages/core/README.md#a)", "[core](../packages/core.md#a)"],
    ["[core](../../packages/core)", "[core](../packages/core.md)"],
    ["[`a` b](../../packages/core/src/a.ts)", `[\`a\` b](${AT}/blob/main/packages/core/src/a.ts)`],
    ["[all](../../examples)", `[all](${AT}/tree/main/examples)`],
    ["[here](#there), [web](https://a.example/b)", "[here](#there), [web](https://a.example/b)"],
    ["![x](../pictures/a.svg)", "![x](../pictures/docs-pictures-a.svg)"],
    ['<img src="../pictures/a.svg">', '<img src="../pictures/docs-pictures-a.svg">'],
    [
      "[![x](../a.svg)](../../packages/core)",
      "[![x](../pictures/docs-a.svg)](../packages/core.md)",
    ],
    ["`[core](../../packages/core)`", "`[core](../../packages/core)`"],
    ["```md\n[core](../../packages/core)\n```", "```md\n[core](../../packages/core)\n```"],
  ])("%s", (text, expected) => {
    expect(onSite(text)).toBe(expected);
  });

  test("a link to a file that does not exist is refused", () => {
    expect(() => onSite("[gone](../gone.md)")).toThrow(
      "docs/recipes/plans.md links to ../gone.md, which does not exist",
    );
  });
});

test("the code of the home page is that of the README", () => {
  const codeOf = (file: string) =>
    readFileSync(join(REPOSITORY, file), "utf8").match(/^```.*?^```$/gms) ?? [];
  const shown = codeOf(HOME);
  expect(shown).toHaveLength(2);
  expect(codeOf("README.md")).toEqual(expect.arrayContaining(shown));
});

test.each([
  ["100 a minute, by the clock", "100-a-minute-by-the-clock"],
  ["openStore(url, options?)", "openstoreurl-options"],
  ["May I send this again?", "may-i-send-this-again"],
])("the address of the heading %s is the same as in the repository", (heading, slug) => {
  expect(slugOf(heading)).toBe(slug);
});

test("the description of a page is its first sentence, without formatting", () => {
  const text =
    "---\nlayout: page\n---\n\n# A page\n\n`limit` counts\n[logins](a.md): by address. Not more.";
  expect(firstSentenceOf(text)).toBe("limit counts logins.");
});

describe("the HTTP reference", () => {
  test("has every operation of the document, with its path", () => {
    const text = reference.map((page) => page.text).join("\n");
    const paths = Object.entries(openApiDocument().paths);
    const missing = paths.filter(([path, item]) =>
      Object.keys(item).some((verb) => !text.includes(`\`${verb.toUpperCase()} ${path}\``)),
    );
    expect(paths.length).toBeGreaterThan(50);
    expect(missing).toEqual([]);
  });

  test("describes the possible values of a field", () => {
    const keys = reference.find(({ path }) => path === "http/keys.md")?.text ?? "";
    expect(keys).toMatch(/\| `keyId` \| text, 1 to 128 characters \| yes \| .+ \|/);
    expect(keys).toContain("| `refill.interval` |");
  });
});

test("llms.txt names every page of the sidebar", () => {
  const { pages } = readSite(REPOSITORY);
  const lines = llmsTxt(GROUPS, pages, reference).match(/^- .*$/gm) ?? [];
  expect(lines).toHaveLength(entries.length + reference.length);
  for (const line of lines) expect(line).toMatch(/^- \[[^\]]+\]\([^)]+\.md\): \S.*\.$/);
});
