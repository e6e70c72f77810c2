/** The value of a key of a map, created if there is none. */
export function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

/** A map within a map, created if there is none. */
export function mapIn<Name, Key, Value>(maps: Map<Name, Map<Key, Value>>, name: Name) {
  return entryOf(maps, name, () => new Map<Key, Value>());
}
