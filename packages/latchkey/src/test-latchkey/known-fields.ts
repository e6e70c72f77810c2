/**
 * Refuses an object with a field that has no meaning: in plain JavaScript nothing else would notice a misspelt one.
 *
 * @param what - What the fields are of: `"tims" is not a field of failStore`.
 * @throws TypeError naming the field and the known ones.
 */
export function refuseUnknownFields(value: object, known: readonly string[], what: string): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`"${unknown}" is not ${what}: ${known.join(", ")}`);
}

/** Refuses a value that is not an object. @throws TypeError naming it. */
export function refuseNoObject(value: unknown, path: string): asserts value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`"${path}" must be an object`);
}
