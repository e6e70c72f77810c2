import type { Latchkey } from "@latchkey/core";

/**
 * Checks the names of options. With a misspelt one, a dry run would write.
 *
 * @param of - The function that takes them.
 * @throws TypeError naming an unknown option.
 */
export function assertKnownOptions(of: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of ${of}`);
}

/** @throws TypeError naming an option that is no latchkey, such as a store. */
export function assertLatchkey(name: string, latchkey: Pick<Latchkey, "listApis">): void {
  if (typeof latchkey?.listApis !== "function")
    throw new TypeError(`"${name}" must be the object that createLatchkey returns`);
}
