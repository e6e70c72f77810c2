/**
 * Resolves in a later turn of the event loop. Between bounded steps of long work it lets others through: a store without
 * I/O never leaves the turn by itself.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
