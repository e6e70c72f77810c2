/** The same items, each one started while the previous one is processed. */
export async function* readAhead<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  const left = items[Symbol.asyncIterator]();
  try {
    let next = left.next();
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = left.next();
      // It is awaited in the next round. If there is none, nobody needs its error.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await left.return?.();
  }
}
