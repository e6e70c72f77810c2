import { z } from "zod";
import { SHARED } from "../response-schemas/shared.js";
import { TEXT_PATTERN, withBounds } from "./bounds.js";
import type { Components, JsonSchema } from "./components.js";
import { noteOf } from "./field-notes.js";
import { COMPONENTS_OF_SHAPES, SHAPES } from "./shapes.js";

/** Whether a schema describes an input, before defaults are filled in, or an output. */
type Direction = "input" | "output";

/**
 * Writes a zod schema as JSON Schema. Shared schemas are added to `components` and referenced.
 *
 * @param owner - Name of the operation that the schema belongs to, for the notes and bounds of its fields.
 * @throws TypeError if a name in `components` already stands for another schema.
 */
export function toJsonSchema(
  schema: z.ZodType,
  direction: Direction,
  components: Components,
  owner = "",
): JsonSchema {
  const converted: JsonSchema = z.toJSONSchema(schema, {
    io: direction,
    metadata: SHARED,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const shape = SHAPES.get(zodSchema);
      if (shape !== undefined) replace(jsonSchema, shape);
      if (direction === "input") addTextPattern(zodSchema, jsonSchema);
      const { description } = z.globalRegistry.get(zodSchema) ?? {};
      if (description !== undefined) jsonSchema.description = description;
      tidy(jsonSchema, direction);
    },
  });
  const { $schema: _dialect, $defs = {}, ...whole } = converted;
  for (const [id, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
    const { id: _name, ...rest } = definition;
    addComponent(components, id, inDocument(rest, [id], direction) as JsonSchema);
    for (const [further, shape] of Object.entries(COMPONENTS_OF_SHAPES[id] ?? {}))
      addComponent(components, further, inDocument(shape, [further], direction) as JsonSchema);
  }
  const inWhole = inDocument(whole, [owner], direction) as JsonSchema;
  return direction === "input" ? withBounds(inWhole, [owner]) : inWhole;
}

/** The same name must stand for the same schema: a second one would silently replace the first. */
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

/** Excludes NUL characters from a string that core checks with a function, which zod cannot convert. */
function addTextPattern(zodSchema: z.core.$ZodType, schema: JsonSchema): void {
  const isChecked = zodSchema._zod.def.checks?.some(({ _zod }) => _zod.def.check === "custom");
  if (schema.type === "string" && isChecked === true) schema.pattern = TEXT_PATTERN;
}

/** Removes keywords that would be noise to a reader. */
function tidy(schema: JsonSchema, direction: Direction): void {
  // It means that a value is frozen in this process, which does not matter to a client.
  delete schema.readOnly;
  if (direction === "output" && schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  flattenNull(schema);
}

/** Writes `string or null` as one type: shorter, and displayed better, than a choice of two schemas. */
function flattenNull(schema: JsonSchema): void {
  const { anyOf } = schema as { anyOf?: JsonSchema[] };
  const [first, second] = anyOf ?? [];
  if (anyOf?.length !== 2 || second?.type !== "null" || typeof first?.type !== "string") return;
  if ("enum" in first || "const" in first) return;
  delete schema.anyOf;
  Object.assign(schema, first, { type: [first.type, "null"] });
}

/**
 * The schema with the document's references, and with the notes and bounds of its fields. A copy, because zod shares schemas that occur
 * twice.
 *
 * @param path - Names down to this schema, as {@link noteOf} takes them.
 */
function inDocument(value: unknown, path: readonly string[], direction: Direction): unknown {
  if (Array.isArray(value)) return value.map((item) => inDocument(item, path, direction));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => {
      if (name === "$ref" && typeof content === "string")
        return [name, content.replace("#/$defs/", "#/components/schemas/")];
      if (name === "properties") return [name, fieldsInDocument(content, path, direction)];
      return [name, inDocument(content, path, direction)];
    }),
  );
}

function fieldsInDocument(
  properties: object,
  path: readonly string[],
  direction: Direction,
): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, content]) => {
      const pathOfField = [...path, name];
      const field = inDocument(content, pathOfField, direction) as JsonSchema;
      const bounded = direction === "input" ? withBounds(field, pathOfField) : field;
      // A description in the schema itself wins over the notes.
      const description = bounded.description ?? noteOf(pathOfField);
      return [name, description === undefined ? bounded : { ...bounded, description }];
    }),
  );
}
