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
