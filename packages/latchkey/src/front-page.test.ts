import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  AUDIT_TYPES,
  createLatchkey,
  ERROR_CODES,
  ERROR_REASONS,
  OPERATIONS,
} from "@latchkey/core";
import { openApiDocument } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { LIST_NAMES } from "./testing/list-names.js";
import { PAGES, PROGRAMS, REPOSITORY, textOf } from "./testing/pages.js";

describe("the README", () => {
  test("starts with a program and exactly two commands", () => {
    const [opening = ""] = textOf("README.md").split("\n## ");
    expect(PROGRAMS[0]?.title).toBe("program 1 of README.md");
    expect(opening.match(/^npm run \w+|^npm \w+/gm)).toEqual(["npm run demo", "npm test"]);
  });

  test.each(["README.md", "docs/installing.md"])(
    "and the page about installing say that nothing is on npm before they install from there: %s",
    (path) => {
      const text = textOf(path);
      const told = text.indexOf("not on npm yet");
      expect(told).toBeGreaterThan(0);
      expect(told).toBeLessThan(text.search(/npm install @?latchkey/));
      expect(text).toMatch(/\((?:docs\/installing\.md)?#from-the-repository\)/);
    },
  );

  test("is at most 250 lines", () => {
    expect(textOf("README.md").split("\n").length).toBeLessThanOrEqual(250);
  });

  test("links to every page of the reference", () => {
    const found = new Set(["README.md"]);
    for (const page of found) {
      for (const [, target = ""] of textOf(page).matchAll(/\]\((?!https?:)([^)#]+)/g))
        found.add(join(dirname(page), target));
    }
    const pages = PAGES.map(({ path }) => path).filter((path) => path.startsWith("docs/"));
    expect(pages.filter((path) => !found.has(path))).toEqual([]);
  });
});

describe("the reference", () => {
  test("names every operation", () => {
    const latchkey = createLatchkey({ store: memoryStore() });
    const noOperations = ["workspaceId", "workspace", "actingAs", "close", "now", ...LIST_NAMES];
    const operations = Object.keys(latchkey).filter((name) => !noOperations.includes(name));
    const operationsPage = textOf("docs/operations.md");
    const missing = operations.filter((name) => !operationsPage.includes(`\n| \`${name}\` |`));
    expect(missing).toEqual([]);
  });

  test("names every field of the input of every operation", () => {
    const rows = textOf("docs/operations.md").split("\n");
    const missing = Object.entries(OPERATIONS).flatMap(([name, { input }]) => {
      const row = rows.find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
      const named = [...row.matchAll(/`([^`]*)`/g)].flatMap(([, text = ""]) => text.split("."));
      return fieldsOf(input)
        .filter((field) => !named.includes(field))
        .map((field) => `${name}: ${field}`);
    });
    expect(missing).toEqual([]);
  });

  test("has the required fields of an operation in bold, and no others", () => {
    const rows = textOf("docs/operations.md").split("\n");
    for (const [name, { input }] of Object.entries(OPERATIONS)) {
      const row = rows.find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
      const bold = [...row.matchAll(/\*\*`(\w+)`\*\*/g)].map(([, field]) => field);
      expect(bold.toSorted(), name).toEqual(requiredFieldsOf(input).toSorted());
    }
  });

  test("lists every served HTTP operation with its method", () => {
    const table =
      /\n\| \| GET \| POST \|\n.*\n((?:\|.*\n)+)/.exec(textOf("docs/http.md"))?.[1] ?? "";
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
    expect(listed.sort()).toEqual([...served, ...NO_OPERATIONS].sort());
  });

  test("lists every error code and reason, and no other", () => {
    const rows = [...textOf("docs/errors.md").matchAll(/^\| `([^`]+)` \|/gm)].map(
      ([, name]) => name,
    );
    expect(rows.slice(1).toSorted()).toEqual(
      [...ERROR_CODES, "reason", ...ERROR_REASONS].toSorted(),
    );
  });

  test("lists every audit type, and no other", () => {
    const [, rows = ""] =
      /\n\| Of \| `type` \|\n.*\n((?:\|.*\n)+)/.exec(textOf("docs/events-and-audit-log.md")) ?? [];
    const listed = [...rows.matchAll(/`([^`]+)`/g)].map(([, type]) => type);
    expect(listed.toSorted()).toEqual(AUDIT_TYPES.toSorted());
  });

  test("links to the file of every rule", () => {
    const core = join(REPOSITORY, "packages/core/src");
    const rules = readdirSync(join(core, "rules"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => `(../packages/core/src/rules/${name})`);
    const page = textOf("docs/rules.md");
    expect(rules.length).toBeGreaterThan(0);
    expect(rules.filter((rule) => !page.includes(rule))).toEqual([]);
  });

  test("links only to existing files", () => {
    const broken = PAGES.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map(([, target = ""]) => join(dirname(path), target))
        .filter((target) => !existsSync(join(REPOSITORY, target))),
    );
    expect(broken).toEqual([]);
  });
});

interface FieldSchema {
  safeParse(value: unknown): { readonly success: boolean };
}

function requiredFieldsOf(input: unknown): readonly string[] {
  const { shape = {} } = (input ?? {}) as { readonly shape?: Record<string, FieldSchema> };
  return Object.keys(shape).filter((field) => shape[field]?.safeParse(undefined).success === false);
}

function fieldsOf(input: unknown): readonly string[] {
  return Object.keys((input as { readonly shape?: object } | null)?.shape ?? {});
}

/** Paths that are served but are no operations. */
const NO_OPERATIONS = ["get docs", "get openapi.json"];

function named(method: string, cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => `${method} ${name}`);
}
