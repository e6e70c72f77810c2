/** The parts of a Zod schema that say which fields it has. */
interface SchemaParts {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly def?: { readonly innerType?: unknown };
}

/**
 * Where a schema has a field of this name one level down: `cost` of verifyKey is `remaining.cost`.
 *
 * @param schema - Schema of the whole input.
 * @returns Null if it has none.
 */
export function placeOfField(schema: unknown, name: string): string | null {
  const holder = Object.entries(fieldsOf(schema)).find(([, field]) =>
    Object.hasOwn(fieldsOf(field), name),
  );
  return holder === undefined ? null : `${holder[0]}.${name}`;
}

/** The fields of a schema, also of one that is optional or has a default; none for other types. */
function fieldsOf(schema: unknown): Readonly<Record<string, unknown>> {
  const { shape, def } = Object(schema) as SchemaParts;
  if (shape !== undefined) return shape;
  return def?.innerType === undefined ? {} : fieldsOf(def.innerType);
}
