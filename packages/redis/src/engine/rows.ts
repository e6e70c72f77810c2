/** What a script is told in one letter, with the Redis keys and the arguments that it takes for it. */
export type Row = readonly [letter: string, keys: readonly string[], ...args: readonly string[]];

/** Rows as a script takes them: letters, keys and arguments, each in one line. Plain loops: every call of a store comes here. */
export function joinRows(rows: readonly Row[]) {
  let letters = "";
  const keys: string[] = [];
  const args: string[] = [];
  for (const row of rows) {
    letters += row[0];
    for (const key of row[1]) keys.push(key);
    for (let at = 2; at < row.length; at += 1) args.push(row[at] as string);
  }
  return { letters, keys, args };
}
