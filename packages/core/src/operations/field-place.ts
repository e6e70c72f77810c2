import type { InputIssue } from "../errors.js";

/** The message about a field that a schema does not have. */
export const UNKNOWN_FIELD = "is not a known field";

/** The parts of a Zod schema that say which fields it has. */
interface SchemaParts {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly def?: { readonly innerType?: unknown };
}

/**
 * The issue about an unknown field, with the place of a field of that name one level down: `cost` of verifyKey is `remaining.cost`. Other
 * issues stay as they are.
 *
 * @param schema - Schema of the whole input.
 */
export function withPlace(issue: InputIssue, schema: unknown): InputIssue {
  const { path, message } = issue;
  if (message !== UNKNOWN_FIELD) return issue;
  const holder = Object.entries(fieldsOf(schema)).find(([, field]) =>
    Object.hasOwn(fieldsOf(field), path),
  );
  return holder === undefined
    ? issue
    : { path, message: `${UNKNOWN_FIELD}: use "${holder[0]}.${path}"` };
}

/** The fields of a schema, also of one that is optional or has a default; none for other types. */
function fieldsOf(schema: unknown): Readonly<Record<string, unknown>> {
  const { shape, def } = Object(schema) as SchemaParts;
  if (shape !== undefined) return shape;
  return def?.innerType === undefined ? {} : fieldsOf(def.innerType);
}
