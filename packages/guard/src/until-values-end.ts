/** Values that are not read, or not to the end, count as ended when they are garbage-collected. */
const dropped = new FinalizationRegistry<() => void>((end) => end());

/**
 * The same values, one after the other; calls `end` when the last was read, when the reader goes away, and when one cannot be had. May call
 * it more than once.
 *
 * @param begin - Is called when somebody begins to read them, who will say when they go away.
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
  // No more than it has: a reader that finds `throw` may not call `return`.
  return {
    next: () => step(() => iterator.next()),
    return: (value) => {
      // Not when that is answered: a source that waits for its next value does not answer before it has that.
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
