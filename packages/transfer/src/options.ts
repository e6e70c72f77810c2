import type { KeyStore } from "@latchkey/core";

/** The type of an option's value. */
type OptionType = "boolean" | "function" | "object";

/** How messages name these types. */
const NAMES: Readonly<Record<OptionType, string>> = {
  boolean: "true or false",
  function: "a function",
  object: "an object",
};

/**
 * Checks the options of a function. With a misspelt one, a backup would not be encrypted.
 *
 * @param of - The function.
 * @param known - Its options, with the type of their values.
 * @throws TypeError naming the wrong option.
 */
export function checkOptions(
  of: string,
  options: unknown,
  known: Readonly<Record<string, OptionType>>,
): void {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`the options of ${of} must be an object`);
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(known, name) ? known[name] : undefined;
    if (type === undefined) throw new TypeError(`"${name}" is not an option of ${of}`);
    const isType = typeof value === type && value !== null;
    if (value !== undefined && !isType) throw new TypeError(`"${name}" must be ${NAMES[type]}`);
  }
}

/** @throws TypeError naming an argument that is no store, such as the object that `createLatchkey` returns. */
export function assertStore(name: string, store: KeyStore): void {
  if (typeof store?.charge !== "function")
    throw new TypeError(`"${name}" must be a store, such as the one that openStore returns`);
}
