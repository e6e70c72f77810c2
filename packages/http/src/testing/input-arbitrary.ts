import fc from "fast-check";

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Resolves a `$ref`. */
export type Resolve = (reference: string) => Schema;

const WRONG_TYPES = [null, "text", 7, true, [], {}];

/** How values are generated. */
interface Making {
  readonly resolve: Resolve;
  /** Whether values only follow the keywords, or also lie at, below and above each bound. */
  readonly mode: "valid" | "around bounds";
  /** Number of references above. */
  readonly depth: number;
}

/**
 * Generates inputs from a schema: some that its keywords allow, some with values at or beyond its bounds, and some that are an example with
 * one or two changed fields.
 */
export function inputsOf(
  schema: Schema,
  resolve: Resolve,
  examples: readonly unknown[],
): fc.Arbitrary<unknown> {
  return fc.oneof(
    { arbitrary: arbitraryOf(schema, { resolve, mode: "valid", depth: 0 }), weight: 1 },
    { arbitrary: arbitraryOf(schema, aroundBounds(resolve)), weight: 1 },
    { arbitrary: changed(fc.constantFrom(...examples), schema, resolve), weight: 3 },
  );
}

function aroundBounds(resolve: Resolve): Making {
  return { resolve, mode: "around bounds", depth: 0 };
}

/** An example with one or two fields set to values around their bounds. In a list, its only item changes; one without fields is replaced. */
function changed(
  examples: fc.Arbitrary<unknown>,
  schema: Schema,
  resolve: Resolve,
): fc.Arbitrary<unknown> {
  const { items } = schema;
  if (items !== undefined && items.properties === undefined)
    return fc.tuple(arbitraryOf(items, aroundBounds(resolve)));
  const { properties = items?.properties ?? {} } = schema;
  const change = fc.oneof(
    ...Object.entries(properties).map(([name, field]) =>
      arbitraryOf(field, aroundBounds(resolve)).map((value) => ({ [name]: value })),
    ),
  );
  const changes = fc.array(change, { minLength: 1, maxLength: 2 });
  return fc.tuple(examples, changes).map(([example, parts]) => {
    const base = Array.isArray(example) ? example[0] : example;
    const whole = Object.assign({}, base, ...parts);
    return Array.isArray(example) ? [whole] : whole;
  });
}

function arbitraryOf(schema: Schema, making: Making): fc.Arbitrary<unknown> {
  const regular = regularOf(schema, making);
  return making.mode === "valid"
    ? regular
    : fc.oneof(
        { arbitrary: regular, weight: 40 },
        { arbitrary: fc.constantFrom(...WRONG_TYPES), weight: 1 },
      );
}

function regularOf(schema: Schema, making: Making): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const target = making.resolve(schema.$ref);
    return making.depth > MAX_DEPTH
      ? shallow(target)
      : arbitraryOf(target, { ...making, depth: making.depth + 1 });
  }
  const choices = schema.anyOf ?? schema.oneOf;
  // A choice next to a type states which fields are required, not what the value is.
  if (choices !== undefined && schema.type === undefined)
    return fc.oneof(...choices.map((choice) => arbitraryOf(choice, making)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === undefined) return JSON_VALUES;
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  return fc.oneof(...types.map((type) => ofType(type, schema, making)));
}

/** Names of members, including ones that metadata must not have. */
const MEMBER_NAMES = fc.constantFrom("plan", "a", "constructor", "prototype", "é");

const JSON_VALUES = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, 0.5, "text"),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(MEMBER_NAMES, tie("value"), { maxKeys: 2 }).map((members) => ({ ...members })),
  ),
})).value;

/** Deepest nesting of schemas that refer to themselves. */
const MAX_DEPTH = 3;

function shallow(schema: Schema): fc.Arbitrary<unknown> {
  return schema.type === "object" ? fc.constant({}) : fc.constant("docs.read");
}

function ofType(type: string, schema: Schema, making: Making): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return integers(schema, making);
    case "string":
      return strings(schema, making);
    case "array":
      return arrays(schema, making);
    case "object":
      return objects(schema, making);
    default:
      throw new TypeError(`no values of type ${type}`);
  }
}

function integers({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema, { mode }: Making) {
  const inside = fc.oneof(
    fc.constantFrom(minimum, maximum),
    fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1_000) }),
  );
  if (mode === "valid") return inside;
  const outside = fc.constantFrom(minimum - 1, maximum + 1, -1, 0.5, minimum + 0.5);
  return fc.oneof({ arbitrary: inside, weight: 9 }, { arbitrary: outside, weight: 1 });
}

/** Lengths that may be bounds without being in the schema. */
const SUSPECT_LENGTHS = [0, 1, 2, 3, 15, 16, 17, 32, 33, 64, 128, 129, 256, 257, 512, 513, 1_025];

/** Texts that a rule about characters may refuse. */
const SUSPECT_TEXTS = ["\0", "a\0b", " ", "a_", "_", "a b", "a\n", "é", "*", "..", "__proto__"];

/** Hashes in every format, and almost hashes. */
const HASHES = [
  "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
  "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=",
  "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0",
  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
];

const TEXT = fc.oneof(
  fc.constantFrom("default", "default", "a", "user_1", "docs.read", "hourly", "sk_live", ...HASHES),
  fc.stringMatching(/^[a-z0-9._-]{1,12}$/),
);

function strings({ pattern, minLength = 0, maxLength = 1_024 }: Schema, { mode }: Making) {
  const expression = new RegExp(pattern ?? "", "u");
  // Two UTF-16 units: both sides must count it as one character. Not where no pattern shows that a rule on characters exists.
  const character = fc.constantFrom(
    "a",
    ...(pattern !== undefined && expression.test("😀") ? ["😀"] : []),
  );
  const ofLength = (lengths: fc.Arbitrary<number>) =>
    fc.tuple(character, lengths).map(([one, length]) => one.repeat(Math.max(0, length)));
  const ofPattern = pattern === undefined || pattern.includes("x00") ? [] : [matching(pattern)];
  const inside = fc
    .oneof(TEXT, ofLength(fc.constantFrom(minLength, maxLength)), ...ofPattern)
    .filter((text) => expression.test(text))
    .filter((text) => [...text].length >= minLength && [...text].length <= maxLength);
  if (mode === "valid") return inside;
  const outside = fc.oneof(
    ofLength(fc.constantFrom(...SUSPECT_LENGTHS, minLength - 1, maxLength + 1)),
    fc.constantFrom(...SUSPECT_TEXTS),
  );
  return fc.oneof({ arbitrary: inside, weight: 9 }, { arbitrary: outside, weight: 1 });
}

/** Created once per pattern: that takes long, and fields of many operations share a pattern. */
const matchingTexts = new Map<string, fc.Arbitrary<string>>();

function matching(pattern: string): fc.Arbitrary<string> {
  const made =
    matchingTexts.get(pattern) ?? fc.stringMatching(new RegExp(pattern), { size: "small" });
  matchingTexts.set(pattern, made);
  return made;
}

function arrays(schema: Schema, making: Making) {
  const { items = {}, minItems = 0, maxItems = 20 } = schema;
  const item = arbitraryOf(items, making);
  const few = fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) });
  if (making.mode === "valid") return few;
  const valid = arbitraryOf(items, { ...making, mode: "valid" });
  const lengths = fc.constantFrom(minItems - 1, maxItems, maxItems + 1);
  const copies = fc
    .tuple(valid, lengths)
    .map(([one, length]) => Array.from({ length: Math.max(0, length) }, () => one));
  return fc.oneof({ arbitrary: few, weight: 14 }, { arbitrary: copies, weight: 1 });
}

function objects(schema: Schema, making: Making): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = Object.entries(properties).map(
    ([name, field]) => [name, arbitraryOf(field, making)] as const,
  );
  // Few optional fields at a time: most rules forbid one field together with another.
  const regular = fc
    .tuple(
      fc.tuple(...fields.map(([name, value]) => fc.tuple(fc.constant(name), value))),
      fc.subarray(Object.keys(properties).filter((name) => !required.includes(name))),
      fc.nat({ max: 4 }),
    )
    .map(([all, optional, most]) => {
      const chosen = new Set([...required, ...optional.slice(0, most)]);
      return Object.fromEntries(all.filter(([name]) => chosen.has(name)));
    });
  const open =
    typeof additionalProperties === "object" && additionalProperties !== null
      ? fc
          .dictionary(
            MEMBER_NAMES,
            Object.keys(additionalProperties).length === 0
              ? fc.jsonValue()
              : arbitraryOf(additionalProperties as Schema, making),
            { maxKeys: 2 },
          )
          .map((dictionary) => ({ ...dictionary }))
      : undefined;
  if (open !== undefined && fields.length === 0) return open;
  if (making.mode === "valid") return regular;
  const stray = fc
    .tuple(regular, fc.constantFrom("stray", "__proto__", "requestId", ...Object.keys(properties)))
    .map(([object, name]) => altered(object, name));
  return fc.oneof({ arbitrary: regular, weight: 19 }, { arbitrary: stray, weight: 1 });
}

/** Removes a field that is there, or adds one that is not. */
function altered(object: Record<string, unknown>, name: string): Record<string, unknown> {
  const entries = Object.entries(object).filter(([field]) => field !== name);
  return entries.length < Object.keys(object).length
    ? Object.fromEntries(entries)
    : Object.fromEntries([...entries, [name, "x"]]);
}
