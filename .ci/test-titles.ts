import { parseSync } from "oxc-parser";

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** The name that a call begins with: `test` for `test(…)`, `test.each(…)(…)` and `` test.each`…`(…) ``. */
function calleeName(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === "Identifier") return String(node.name);
  if (node.type === "MemberExpression") return calleeName(node.object);
  if (node.type === "CallExpression") return calleeName(node.callee);
  return node.type === "TaggedTemplateExpression" ? calleeName(node.tag) : null;
}

function textOf(value: unknown): string | null {
  return isNode(value) && value.type === "Literal" && typeof value.value === "string"
    ? value.value
    : null;
}

/** The title of a test, or of a case of the store contract, which is written with `it`; null: another node. */
function titleOf(node: Node): string | null {
  if (node.type !== "CallExpression") return null;
  const callee = calleeName(node.callee);
  if (callee !== "test" && callee !== "it") return null;
  return textOf((node.arguments as unknown[])[0]);
}

/** The titles of the tests in a file, as written: those of `test.each` with placeholders. */
export function testTitles(path: string, text: string): string[] {
  const titles: string[] = [];
  const visit = (value: unknown): void => {
    if (!Array.isArray(value) && !isNode(value)) return;
    const title = isNode(value) ? titleOf(value) : null;
    if (title !== null) titles.push(title);
    for (const part of Object.values(value)) visit(part);
  };
  visit(parseSync(path, text).program);
  return titles;
}
