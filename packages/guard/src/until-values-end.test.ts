import { expect, test, vi } from "vitest";
import { untilValuesEnd } from "./until-values-end.js";

async function* two() {
  yield 1;
  yield 2;
}

const watch = (values: AsyncIterable<number>) => {
  const [end, begin] = [vi.fn(), vi.fn()];
  const iterator = untilValuesEnd(values, end, begin)[Symbol.asyncIterator]();
  return { end, begin, iterator };
};

test("the end comes after the last value, and the values are the same", async () => {
  const { end, begin, iterator } = watch(two());
  expect(begin).toHaveBeenCalledOnce();
  expect([await iterator.next(), await iterator.next()]).toEqual([
    { done: false, value: 1 },
    { done: false, value: 2 },
  ]);
  expect(end).not.toHaveBeenCalled();
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(end).toHaveBeenCalled();
});

test("a reader that stops ends them at once, even while the next value is awaited", async () => {
  const { end, iterator } = watch(
    (async function* () {
      yield await new Promise<number>(() => undefined);
    })(),
  );
  void iterator.next();
  void iterator.return?.();
  expect(end).toHaveBeenCalled();
});

test("a failure to read a value ends them, and the error is passed on", async () => {
  const { end, iterator } = watch({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("no tiles")) }),
  });
  await expect(iterator.next()).rejects.toThrow("no tiles");
  expect(end).toHaveBeenCalled();
  expect("throw" in iterator).toBe(false);
  expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
});

test("an error that the reader throws into them reaches the source", async () => {
  const { end, iterator } = watch(two());
  await iterator.next();
  await expect(iterator.throw?.(new Error("enough"))).rejects.toThrow("enough");
  expect(end).toHaveBeenCalled();
});
