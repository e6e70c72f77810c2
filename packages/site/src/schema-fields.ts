/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** A field for a table: nested ones as `outer.inner`, those of list members as `list[].inner`. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly note: string;
}

type Components = Readonly<Record<string, unknown>>;

/** Maximum depth of tables; deeper fields are shown as an object. */
const MOST_LEVELS = 4;

/**
 * The fields of an object, or of the objects in a list.
 *
 * @param components - Of the document, the targets of `$ref`.
 */
export function fieldsOf(schema: Schema, components: Components, prefix = "", level = 1): Field[] {
  const { items, ...resolved } = follow(schema, components);
  if (items !== undefined) return fieldsOf(items, components, `${prefix}[]`, level);
  const parts = [resolved, ...variantsOf(resolved).map((part) => follow(part, components))];
  const fields = new Map<string, Field>();
  for (const { properties = {}, required = [] } of parts) {
    for (const [name, field] of Object.entries(properties)) {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      if (fields.has(path)) continue;
      const inner = follow(field, components);
      const isRequired = parts.every(
        (part) => part.properties === undefined || part.required?.includes(name),
      );
      fields.set(path, {
        name: path,
        type: typeOf(inner, components),
        required: required.includes(name) && isRequired,
        note: field.description ?? inner.description ?? "",
      });
      if (level >= MOST_LEVELS) continue;
      for (const one of fieldsOf(inner, components, path, level + 1))
        if (!fields.has(one.name)) fields.set(one.name, one);
    }
  }
  return [...fields.values()];
}

function variantsOf({ anyOf = [], oneOf = [], allOf = [] }: Schema): readonly Schema[] {
  return [...anyOf, ...oneOf, ...allOf];
}

function follow(schema: Schema, components: Components): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.split("/").at(-1) ?? "";
  const schemas = components.schemas as Readonly<Record<string, Schema>>;
  const { $ref: _, ...beside } = schema;
  return { ...schemas[name], ...beside };
}

/** The possible values, in words: the type and its bounds. */
function typeOf(schema: Schema, components: Components): string {
  const { type, items, enum: values, const: value } = schema;
  if (value !== undefined) return `\`${JSON.stringify(value)}\``;
  if (values !== undefined) return values.map((one) => `\`${JSON.stringify(one)}\``).join(", ");
  const variants = variantsOf(schema);
  if (type === undefined && variants.length > 0) {
    const types = variants.map((one) => typeOf(follow(one, components), components));
    return [...new Set(types)].join(" or ");
  }
  if (type === "array") {
    const inner =
      items === undefined ? "" : ` of ${plural(typeOf(follow(items, components), components))}`;
    return `list${inner}${bounds(schema.minItems, schema.maxItems, "")}`;
  }
  if (type === "string") return `text${bounds(schema.minLength, schema.maxLength, " characters")}`;
  if (type === "integer" || type === "number")
    return `${type === "integer" ? "whole number" : "number"}${bounds(schema.minimum, schema.maximum, "")}`;
  return Array.isArray(type) ? type.join(" or ") : ((type as string | undefined) ?? "any value");
}

function plural(type: string): string {
  return /^(?:text|object|list|whole number)\b/.test(type)
    ? type.replace(/^(text|object|list|whole number)/, "$1s")
    : type;
}

/** Bounds for readers, without the greatest safe integer, which nobody reaches. */
function bounds(least: number | undefined, most: number | undefined, unit: string): string {
  const from = least === undefined || least === 0 ? undefined : least;
  const to = most === undefined || most >= Number.MAX_SAFE_INTEGER ? undefined : most;
  const shown = (value: number) => value.toLocaleString("en-US");
  if (from !== undefined && to !== undefined) return `, ${shown(from)} to ${shown(to)}${unit}`;
  if (to !== undefined) return `, at most ${shown(to)}${unit}`;
  return from === undefined ? "" : `, at least ${shown(from)}${unit}`;
}
