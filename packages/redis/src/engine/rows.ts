/** What a script is told in one letter, with the Redis keys and the arguments that it takes for it. */
export type Row = readonly [letter: string, keys: readonly string[], ...args: readonly string[]];

/** Rows as a script takes them: letters, keys and arguments, each in one line. */
export function joinRows(rows: readonly Row[]) {
  return {
    letters: rows.map(([letter]) => letter).join(""),
    keys: rows.flatMap(([, keys]) => keys),
    args: rows.flatMap(([, , ...args]) => args),
  };
}
