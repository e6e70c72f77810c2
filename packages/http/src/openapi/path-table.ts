/**
 * Finds the entry of a field in a table by names: the one whose name is the longest suffix of the field's path.
 *
 * @param path - The shared schema or the operation that the field is in, then the names of fields down to its own. Items of
 * a list have the path of the list.
 */
export function findByPath<Entry>(
  table: Readonly<Record<string, Entry>>,
  path: readonly string[],
): Entry | undefined {
  for (let from = 0; from < path.length; from += 1) {
    const name = path.slice(from).join(".");
    if (Object.hasOwn(table, name)) return table[name];
  }
  return undefined;
}

/** The same entries for several operations or shared schemas: `<owner>.<field>` for each. */
export function ofEach<Entry>(
  owners: readonly string[],
  entries: Readonly<Record<string, Entry>>,
): Readonly<Record<string, Entry>> {
  return Object.fromEntries(
    owners.flatMap((owner) =>
      Object.entries(entries).map(([field, entry]) => [`${owner}.${field}`, entry]),
    ),
  );
}
