import { expect, test } from "vitest";
import { V1 } from "../v1.js";
import { V2 } from "../v2/contract.js";
import type { JsonSchema } from "./components.js";
import { documentOf } from "./document.js";

/** Rules for client generators, which JSON Schema does not have. */
const DOCUMENTS = [V1, V2].map((contract) => [contract.version, documentOf(contract, "")] as const);

function schemasIn(value: unknown): JsonSchema[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as JsonSchema, ...Object.values(value).flatMap(schemasIn)];
}

/** The components that a type consists of, except those of its members, which a generated type resolves only when they are used. */
function partsOf({ $ref, anyOf, oneOf, allOf, items }: JsonSchema): string[] {
  const name = typeof $ref === "string" ? [$ref.replace("#/components/schemas/", "")] : [];
  const parts = [anyOf, oneOf, allOf, items].flat().filter((part) => part !== undefined);
  return [...name, ...parts.flatMap((part) => partsOf(part as JsonSchema))];
}

test.each(DOCUMENTS)("%s: no type is a choice or a list of itself", (_version, { components }) => {
  const schemas = components.schemas as Record<string, JsonSchema>;
  for (const name of Object.keys(schemas)) {
    const seen = new Set<string>();
    const open = partsOf(schemas[name] ?? {});
    for (const part of open) {
      if (seen.has(part)) continue;
      seen.add(part);
      open.push(...partsOf(schemas[part] ?? {}));
    }
    expect([...seen], name).not.toContain(name);
  }
});

test.each(DOCUMENTS)("%s: no pattern is next to a choice", (_version, document) => {
  const withPattern = schemasIn(document).filter(({ pattern }) => typeof pattern === "string");
  expect(withPattern).not.toEqual([]);
  for (const schema of withPattern)
    expect(Object.keys(schema), JSON.stringify(schema)).not.toContain("anyOf");
});

test.each(DOCUMENTS)("%s: every body of an error has a name", (_version, { components }) => {
  for (const [name, response] of Object.entries(components.responses as Record<string, JsonSchema>))
    expect(response.content, name).toEqual({
      "application/json": { schema: { $ref: `#/components/schemas/${name}Error` } },
    });
});
