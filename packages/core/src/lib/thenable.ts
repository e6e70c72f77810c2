/** Whether a value is a promise of any kind, so that it can be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}
