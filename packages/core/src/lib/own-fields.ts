/** Whether fields were added to `Object.prototype`: then every object seems to have them. */
export function isPolluted(): boolean {
  for (const _ in Object.prototype) return true;
  return false;
}

/** A copy without prototypes of an object, and of plain objects and lists in it down to this depth; other values stay as they are. */
export function withoutPrototype<Value>(value: Value, depth: number): Value {
  if (typeof value !== "object" || value === null || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withoutPrototype(item, depth - 1)) as Value;
  const copy: Record<string, unknown> = Object.assign(Object.create(null), value);
  for (const name of Object.keys(copy))
    if (Array.isArray(copy[name]) || isPlainObject(copy[name]))
      copy[name] = withoutPrototype(copy[name], depth - 1);
  return copy as Value;
}

/** Whether this is an object as a literal or `JSON.parse` makes it, in any realm: a test runner may run the caller in a `vm`. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || isOfAnotherRealm(prototype);
}

/** Whether this is the `Object.prototype` of another realm. */
function isOfAnotherRealm(prototype: unknown): boolean {
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(Object(prototype), "isPrototypeOf")
  );
}

/** Whether a value is an object other than a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Options of {@link ownFieldsOf}. */
export interface OwnFields {
  /** Known fields: none of them may be inherited. */
  readonly known: ReadonlySet<string>;
  /** Fields that must not be undefined if present. */
  readonly stated: readonly string[];
  /** Path of the object in the input, for messages: `ratelimits.0.`, or an empty text. */
  readonly path?: string;
}

/**
 * Copies an object's own fields into an object without a prototype, reading each once.
 *
 * For options that are read once and apply for long: an inherited or undefined field there is probably a mistake, and ignoring it could
 * admit more than intended.
 *
 * @throws TypeError naming an inherited or undefined field.
 */
export function ownFieldsOf(
  value: object,
  { known, stated, path = "" }: OwnFields,
): Record<string, unknown> {
  for (const name of known)
    if (name in value && !Object.hasOwn(value, name))
      throw new TypeError(`"${path}${name}" must be a field of the object itself, not inherited`);
  const copy: Record<string, unknown> = Object.create(null);
  for (const name of Object.getOwnPropertyNames(value))
    copy[name] = (value as Readonly<Record<string, unknown>>)[name];
  for (const name of stated)
    if (name in copy && copy[name] === undefined)
      throw new TypeError(`"${path}${name}" must not be undefined: omit it instead`);
  return copy;
}
