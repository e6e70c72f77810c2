/** Values that are never read, or not to the end, count as ended when they are garbage-collected. */
const dropped = new FinalizationRegistry<() => void>((end) => end());

/**
 * Passes values on. Calls `end` when the last one was read, when the reader stops early, and when reading fails; maybe more than once.
 *
 * @param begin - Called when a reader begins. From then on, the reader reports the end.
 */
export function untilValuesEnd<Value>(
  values: AsyncIterable<Value>,
  end: () => void,
  begin: () => void,
): AsyncIterable<Value> {
  const watched: AsyncIterable<Value> = {
    [Symbol.asyncIterator]() {
      begin();
      dropped.unregister(end);
      const iterator = watchedIterator(values[Symbol.asyncIterator](), end);
      dropped.register(iterator, end, end);
      return iterator;
    },
  };
  dropped.register(watched, end, end);
  return watched;
}

function watchedIterator<Value>(
  iterator: AsyncIterator<Value>,
  end: () => void,
): AsyncIterator<Value> {
  const step = async (
    read: () => Promise<IteratorResult<Value>>,
  ): Promise<IteratorResult<Value>> => {
    try {
      const result = await read();
      if (result.done === true) end();
      return result;
    } catch (error) {
      end();
      throw error;
    }
  };
  // `throw` only if the source has it: a reader that finds `throw` may not call `return`.
  return {
    next: () => step(() => iterator.next()),
    return: (value) => {
      // At once, not when the source has answered: a source that waits for its next value answers only when it has that.
      end();
      return iterator.return?.(value) ?? Promise.resolve({ done: true, value: undefined });
    },
    ...(iterator.throw !== undefined && {
      throw: (error: unknown) => {
        end();
        return (iterator.throw as NonNullable<typeof iterator.throw>)(error);
      },
    }),
  };
}
