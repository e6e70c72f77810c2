import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { isTestFile, parseFile, readPackages } from "./sources.js";

/** The parts of a syntax tree node that are used here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** A named type, and the text of its file. */
interface Declaration {
  readonly node: Node;
  readonly text: string;
}

/** A field or an operation of the public API. */
interface Member {
  /** Owner and name, such as `CreateKeyInput.prefix`. */
  readonly path: string;
  readonly isMethod: boolean;
  /** Empty: there is none. */
  readonly docstring: string;
}

/** Types where callers begin to read: the instance, its options, and all operations. */
const ROOTS = ["LatchkeyOptions", "Latchkey", "Operations", "Lists"];

/** Types whose fields are documented elsewhere. */
const ELSEWHERE = new Set([
  "KeyStore",
  "LatchkeyTypes",
  "DefaultTypes",
  "TypesOf",
  "LatchkeyEvent",
  // The call forms that all writes share.
  "Forms",
]);

/** Every interface and type alias of these sources, by name. */
function declarationsIn(texts: readonly string[]): ReadonlyMap<string, readonly Declaration[]> {
  const found = new Map<string, Declaration[]>();
  for (const text of texts) {
    const { program } = parseSync("source.ts", text);
    walk(program as unknown as Node, (node) => {
      if (node.type !== "TSInterfaceDeclaration" && node.type !== "TSTypeAliasDeclaration") return;
      const { name } = node.id as { readonly name: string };
      found.set(name, [...(found.get(name) ?? []), { node, text }]);
    });
  }
  return found;
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  else if (typeof value === "object" && value !== null) {
    if ("type" in value && "start" in value) visit(value as Node);
    for (const field of Object.values(value)) walk(field, visit);
  }
}

/** Every member of the roots, and of each type that they refer to, directly or not. */
function membersFrom(
  roots: readonly string[],
  declarations: ReadonlyMap<string, readonly Declaration[]>,
): readonly Member[] {
  const members: Member[] = [];
  const seen = new Set<string>(ELSEWHERE);
  const visitType = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { node, text } of declarations.get(name) ?? []) visitMembers(name, node, text);
  };
  const visitMembers = (owner: string, declaration: Node, text: string): void =>
    walk(declaration, (node) => {
      if (node.type === "TSPropertySignature" || node.type === "TSMethodSignature") {
        const key = node.key as { readonly name?: string; readonly value?: string };
        members.push({
          path: `${owner}.${key.name ?? key.value}`,
          isMethod: node.type === "TSMethodSignature",
          docstring: docstringBefore(text, node.start),
        });
      }
      const named = node.typeName ?? (node.type === "TSInterfaceHeritage" ? node.expression : null);
      const { name } = (named ?? {}) as { readonly name?: string };
      if (name !== undefined) visitType(name);
    });
  roots.forEach(visitType);
  return members;
}

function docstringBefore(text: string, at: number): string {
  return /\/\*\*(?:[^*]|\*(?!\/))*\*\/\s*$/.exec(text.slice(0, at))?.[0] ?? "";
}

const core = readPackages().find(({ directory }) => directory === "core");
const sources = (core?.files ?? []).filter(({ path }) => !isTestFile(path));
const members = membersFrom(ROOTS, declarationsIn(sources.map(({ text }) => text)));

describe("hover texts", () => {
  test("every operation, every field of an input and every field of an answer has one", () => {
    expect(members.filter(({ docstring }) => docstring === "").map(({ path }) => path)).toEqual([]);
  });

  test("an operation says what it throws, and shows how it is called", () => {
    const operations = members.filter(({ path, isMethod }) => isMethod && !path.includes("Schema"));
    const bare = operations.filter(
      ({ docstring }) => !docstring.includes("@throws ") || !docstring.includes("@example\n"),
    );
    expect(bare.map(({ path }) => path)).toEqual([]);
    expect(operations.length).toBeGreaterThan(50);
  });

  test("the checked members include inputs and answers", () => {
    const paths = new Set(members.map(({ path }) => path));
    for (const path of [
      "KeyOperations.createKey",
      "KeySettingsInput.meta",
      "ImportedHashInput.variant",
      "RequestedLimit.duration",
      "GrantInput.create",
      "VerifierCall.requestId",
      "RefusedVerdict.code",
      "VerifiedKey.remaining",
      "KeyView.lastUsedAt",
      "VerificationBucket.outcomes",
      "FieldChange.before",
      "PageInfo.damaged",
      "ListIterator.damaged",
    ])
      expect(paths, path).toContain(path);
  });
});

test("a member without a docstring is detected, also in a type that is only referred to", () => {
  const { text } = parseFile(
    "src/example.ts",
    `interface Root extends Base { /** One. */ one(input: Input): Promise<{ /** A. */ a: 1; b: 2 }>; }
     interface Base { two: string }
     type Input = | { /** C. */ c: 1 } | { d: Deep[] };
     interface Deep { /* no docstring */ e: 1 }
     interface Other { f: 1 }`,
  );
  const found = membersFrom(["Root"], declarationsIn([text]));
  const bare = found.filter(({ docstring }) => docstring === "").map(({ path }) => path);
  expect(bare.sort()).toEqual(["Base.two", "Deep.e", "Input.d", "Root.b"]);
  expect(found).toHaveLength(7);
});
