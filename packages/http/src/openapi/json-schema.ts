import { metadataField, permissionQueryField } from "@latchkey/core";
import { z } from "zod";
import { metadata, SHARED } from "../response-schemas/shared.js";
import { noteOf } from "./field-notes.js";

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = { [keyword: string]: unknown };

/** Schemas by their name in the document. */
export type Components = Map<string, JsonSchema>;

/** What a schema of core's own checking is in JSON Schema, as far as that can say it. */
const SHAPES = new Map<z.core.$ZodType, { readonly id: string; readonly shape: JsonSchema }>([
  [metadata, { id: "Metadata", shape: metadataShape() }],
  [metadataField, { id: "Metadata", shape: metadataShape() }],
  [permissionQueryField, { id: "PermissionQuery", shape: permissionQueryShape() }],
]);

for (const [schema, { id }] of SHAPES) SHARED.add(schema as z.ZodType, { id });

/**
 * Writes a zod schema as JSON Schema. What is shared goes to `components` and is referred to.
 *
 * @param io - Whether it is what comes in, before defaults, or what goes out.
 * @param owner - Name of the operation whose schema it is, for the notes on its fields.
 * @throws TypeError when a name among `components` stands for something else already.
 */
export function toJsonSchema(
  schema: z.ZodType,
  io: "input" | "output",
  components: Components,
  owner = "",
): JsonSchema {
  const converted: JsonSchema = z.toJSONSchema(schema, {
    io,
    metadata: SHARED,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const known = SHAPES.get(zodSchema);
      if (known !== undefined) replace(jsonSchema, known.shape);
      tidy(jsonSchema);
    },
  });
  const { $schema: _dialect, $defs = {}, ...whole } = converted;
  for (const [id, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
    const { id: _name, ...rest } = definition;
    addComponent(components, id, inDocument(rest, [id]) as JsonSchema);
  }
  return inDocument(whole, [owner]) as JsonSchema;
}

/** What is named twice must be the same: the second would silently take the place of the first. */
function addComponent(components: Components, id: string, schema: JsonSchema): void {
  const known = components.get(id);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
    throw new TypeError(`two schemas that differ are both named "${id}" in the document`);
  components.set(id, schema);
}

function replace(target: JsonSchema, shape: JsonSchema): void {
  for (const keyword of Object.keys(target)) delete target[keyword];
  Object.assign(target, shape);
}

/** Leaves out what would only be noise to a reader. */
function tidy(schema: JsonSchema): void {
  // Says that a value is frozen in this process, which is nothing to a client.
  delete schema.readOnly;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  flattenNull(schema);
}

/** `string or null` as one type: shorter, and shown better, than a choice of two schemas. */
function flattenNull(schema: JsonSchema): void {
  const { anyOf } = schema as { anyOf?: JsonSchema[] };
  const [first, second] = anyOf ?? [];
  if (anyOf?.length !== 2 || second?.type !== "null" || typeof first?.type !== "string") return;
  if ("enum" in first || "const" in first) return;
  delete schema.anyOf;
  Object.assign(schema, first, { type: [first.type, "null"] });
}

/**
 * References as the document has them, and what each field stands for. Makes copies: zod shares what occurs twice.
 *
 * @param path - Of the fields on the way here, as {@link noteOf} takes it.
 */
function inDocument(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => inDocument(item, path));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => {
      if (name === "$ref" && typeof content === "string")
        return [name, content.replace(/^#\/\$defs\//, "#/components/schemas/")];
      return [name, name === "properties" ? withNotes(content, path) : inDocument(content, path)];
    }),
  );
}

function withNotes(properties: object, path: readonly string[]): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, content]) => {
      const pathOfField = [...path, name];
      const property = inDocument(content, pathOfField) as JsonSchema;
      const description = noteOf(pathOfField);
      return [name, description === undefined ? property : { ...property, description }];
    }),
  );
}

function metadataShape(): JsonSchema {
  return {
    type: "object",
    additionalProperties: true,
    description:
      "A JSON object of yours: at most 16 KiB and 16 levels deep, without members named `__proto__`, " +
      "`constructor` or `prototype`.",
  };
}

function permissionQueryShape(): JsonSchema {
  const group = (name: string) => ({
    type: "object",
    properties: {
      [name]: { type: "array", minItems: 1, items: { $ref: "#/$defs/PermissionQuery" } },
    },
    required: [name],
    additionalProperties: false,
  });
  return {
    description:
      "A permission that the key must have, or a group of which all (`and`) or at least one (`or`) must hold; " +
      "at most 16 levels deep and 1,000 names and groups.",
    oneOf: [{ type: "string", minLength: 1, maxLength: 512 }, group("and"), group("or")],
  };
}
