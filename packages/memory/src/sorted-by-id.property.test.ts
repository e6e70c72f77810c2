import fc from "fast-check";
import { expect, test } from "vitest";
import { SortedById } from "./sorted-by-id.js";

const id = fc.nat({ max: 5_000 }).map((number) => String(number).padStart(4, "0"));

test("items are listed in ascending order of id, whatever the order they come and go in", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(id, { maxLength: 2_000, size: "max" }),
      fc.nat({ max: 3 }),
      fc.option(id),
      fc.integer({ min: 1, max: 700 }),
      (ids, kept, afterId, limit) => {
        const list = new SortedById<{ readonly id: string }>();
        const items = ids.map((of) => ({ id: of }));
        for (const item of items) list.add(item);
        const [removed, left] = [
          items.filter((_, index) => index % 4 < kept),
          items.filter((_, index) => index % 4 >= kept),
        ];
        for (const item of removed) list.remove(item);

        const following = left
          .map((item) => item.id)
          .filter((of) => afterId === null || of > afterId)
          .sort();
        const page = list.page(afterId, limit);
        expect(page.items.map((item) => item.id)).toEqual(following.slice(0, limit));
        expect(page.hasMore).toBe(following.length > limit);
        expect(list.size).toBe(left.length);
      },
    ),
    { numRuns: 60 },
  );
});

test("a list is read backwards as it is forwards, from any id, in pages of any size", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(id, { maxLength: 2_000, size: "max" }),
      fc.option(id),
      fc.integer({ min: 1, max: 700 }),
      (ids, beforeId, limit) => {
        const list = new SortedById<{ readonly id: string }>();
        for (const of of ids) list.add({ id: of });
        const preceding = ids
          .filter((of) => beforeId === null || of < beforeId)
          .sort()
          .reverse();
        const page = list.pageBack(beforeId, limit);
        expect(page.items.map((item) => item.id)).toEqual(preceding.slice(0, limit));
        expect(page.hasMore).toBe(preceding.length > limit);
      },
    ),
    { numRuns: 60 },
  );
});

test("a list that was emptied takes items again", () => {
  const list = new SortedById<{ readonly id: string }>();
  const item = { id: "b" };
  for (let round = 0; round < 3; round += 1) {
    list.add(item);
    list.remove(item);
    expect(list.page(null, 10)).toEqual({ items: [], hasMore: false });
    expect(list.page("a", 10)).toEqual({ items: [], hasMore: false });
    expect(list.pageBack("z", 10)).toEqual({ items: [], hasMore: false });
  }
  list.add(item);
  expect(list.page(null, 10)).toEqual({ items: [item], hasMore: false });
});
