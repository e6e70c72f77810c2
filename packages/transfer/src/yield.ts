/** Lets whatever else this process does have its turn: some stores answer without one. Through the global, which a simulated world replaces. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
