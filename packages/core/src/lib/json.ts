/** What JSON can hold. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue };

/**
 * Freezes a value and everything in it, and answers it. Records are plain data, a few levels deep, so the recursion
 * is bounded by their schemas.
 */
export function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFrozen(member);
  return Object.freeze(value);
}

/**
 * Whether a value has more levels than that. The value itself is the first, if it is an object or a list. Without recursion, which is
 * what a value of a hundred thousand levels would break; of one that holds itself it is true.
 */
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
