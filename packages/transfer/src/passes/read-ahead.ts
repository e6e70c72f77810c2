/** The same items, each of them under way while the one before it is worked on. */
export async function* readAhead<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  const left = items[Symbol.asyncIterator]();
  try {
    let next = left.next();
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = left.next();
      // It is awaited in the next round, unless there is none: then nobody asks what went wrong.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await left.return?.();
  }
}
