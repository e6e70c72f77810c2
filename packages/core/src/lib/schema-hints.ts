import { nameMeant, useHint } from "./near-name.js";

/** The parts of a Zod schema that say which fields it has. */
interface SchemaParts {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly def?: {
    /** What is optional, nullable or has a default. */
    readonly innerType?: unknown;
    /** What a transformation reads. */
    readonly in?: unknown;
    /** An item of a list. */
    readonly element?: unknown;
    /** The choices of a union. */
    readonly options?: readonly unknown[];
  };
}

/** Most issues of an input that get a hint from its schema: a hostile input may have very many. */
const MAX_HINTS = 100;

/** What the Zod schema of a whole input can say about a mistake, for the ends of messages; empty if nothing. */
export class SchemaHints {
  readonly #schema: unknown;
  #left = MAX_HINTS;

  constructor(schema: unknown) {
    this.#schema = schema;
  }

  /** Which field was meant by an unknown one of the object at this path. */
  ofUnknown(path: readonly string[], name: string): string {
    return useHint(this.#isSpent() ? null : fieldMeant(this.#schema, path, name));
  }

  /** Which fields the object at this path needs. */
  ofObject(path: readonly string[]): string {
    const needed = this.#isSpent() ? [] : neededFields(this.#schema, path);
    return needed.length === 0 ? "" : `: { ${needed.join(", ")} }`;
  }

  #isSpent(): boolean {
    this.#left -= 1;
    return this.#left < 0;
  }
}

/**
 * The path of the field that was probably meant by an unknown one: a field with a name like it (`externalId` for `external_id`), or with its
 * name but one level down (`remaining.cost` for `cost` of verifyKey).
 *
 * @param path - Path of the object with the unknown field.
 * @returns Null if there is none.
 */
function fieldMeant(schema: unknown, path: readonly PropertyKey[], name: string): string | null {
  const fields = fieldsOf(schemaAt(schema, path));
  const alike = nameMeant(name, Object.keys(fields));
  const place = alike ?? placeBelow(fields, name);
  return place === null ? null : [...path, place].join(".");
}

function placeBelow(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const holder = Object.entries(fields).find(([, field]) => Object.hasOwn(fieldsOf(field), name));
  return holder === undefined ? null : `${holder[0]}.${name}`;
}

/** The names of the fields that the object at this path cannot do without; if there are none, of its only field. */
function neededFields(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  const fields = Object.entries(fieldsOf(schemaAt(schema, path)));
  const needed = fields.filter(([, field]) => !(field as { isOptional(): boolean }).isOptional());
  const told = needed.length === 0 && fields.length === 1 ? fields : needed;
  return told.map(([name]) => name);
}

function schemaAt(schema: unknown, path: readonly PropertyKey[]): unknown {
  let at = schema;
  for (const name of path) at = itemOf(at) ?? fieldsOf(at)[String(name)];
  return at;
}

function itemOf(schema: unknown): unknown {
  const { def } = Object(schema) as SchemaParts;
  const inner = def?.innerType ?? def?.in;
  return inner === undefined ? def?.element : itemOf(inner);
}

/** The fields of a schema, also of one that is optional, transformed or one choice of several; none for other types. */
function fieldsOf(schema: unknown): Readonly<Record<string, unknown>> {
  const { shape, def } = Object(schema) as SchemaParts;
  if (shape !== undefined) return shape;
  const inner = def?.innerType ?? def?.in;
  if (inner !== undefined) return fieldsOf(inner);
  return Object.assign({}, ...(def?.options ?? []).map(fieldsOf));
}
