/** Lets whatever else this process does have its turn: some stores answer without one. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
