/** Any JSON value. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue };

/** Deeply freezes a value and returns it. It recurses, so use it for plain data of a few levels, such as records. */
export function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFrozen(member);
  return Object.freeze(value);
}

/** Whether a value, the first level, is nested deeper than `levels`; true for a cyclic one. Does not recurse, so any depth is safe. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  const pending: (readonly [value: unknown, level: number])[] = [[value, 1]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [at, level] = next;
    if (typeof at !== "object" || at === null) continue;
    if (level > levels) return true;
    for (const inner of Object.values(at)) pending.push([inner, level + 1]);
  }
  return false;
}

/** One text per JSON value, whatever the order of its fields. It recurses into each level: check with `isDeeperThan` first. */
export function canonicalJson(value: unknown): string {
  if (value instanceof Date) return String(value.getTime());
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join()}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    members.sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`;
  }
  return ["string", "number", "boolean"].includes(typeof value) || value === null
    ? JSON.stringify(value)
    : typeof value;
}
