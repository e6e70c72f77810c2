import fc from "fast-check";
import { expect, test } from "vitest";
import { contextWith } from "../testing/context.js";
import { deleteInBatches } from "./delete-in-batches.js";

const context = contextWith();

/** Deletes from a number of items, at most `limit` of them in one step. */
function stepOver(items: number) {
  let left = items;
  const limits: number[] = [];
  const step = async (_context: unknown, limit: number) => {
    limits.push(limit);
    const deleted = Math.min(limit, left);
    left -= deleted;
    return { deleted, hasMore: left > 0 };
  };
  return { step, limits, left: () => left };
}

test("all is deleted, in steps of the limit, and counted", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 20 }), fc.integer({ min: 1, max: 6 }), async (items, limit) => {
      const { step, limits, left } = stepOver(items);
      expect(await deleteInBatches(context, limit, step)).toEqual({ deleted: items });
      expect(left()).toBe(0);
      expect(limits).toEqual(Array(Math.max(1, Math.ceil(items / limit))).fill(limit));
    }),
    { numRuns: 50 },
  );
});

test("other work of the process gets through between two steps", async () => {
  const order: string[] = [];
  const { step } = stepOver(3);
  setImmediate(() => order.push("other work"));
  await deleteInBatches(context, 1, async (round, limit) => {
    order.push("step");
    return step(round, limit);
  });
  expect(order).toHaveLength(4);
  expect(order.at(-1)).toBe("step");
  expect(order).toContain("other work");
});

test("a step that fails ends it, with the error of the step", async () => {
  const failing = async () => {
    throw new Error("away");
  };
  await expect(deleteInBatches(context, 1, failing)).rejects.toThrow("away");
});
