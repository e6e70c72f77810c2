import fc from "fast-check";
import { expect, test } from "vitest";
import { GroupedById } from "./grouped-by-id.js";
import { SortedById } from "./sorted-by-id.js";

const GROUPS = ["a", "b", "c"];

const step = fc.record({
  group: fc.constantFrom(...GROUPS),
  id: fc.nat({ max: 30 }).map((number) => String(number).padStart(2, "0")),
});

test("a group lists what a list of its own would, however few or many it has, while others come and go", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.option(step),
      fc.integer({ min: 1, max: 5 }),
      (steps, from, limit) => {
        const grouped = new GroupedById<{ readonly id: string }>();
        const lists = new Map(GROUPS.map((group) => [group, new SortedById<{ id: string }>()]));
        const items = new Map<string, { id: string }>();
        for (const { group, id } of steps) {
          const name = `${group} ${id}`;
          const known = items.get(name);
          const list = lists.get(group) as SortedById<{ id: string }>;
          if (known === undefined) {
            const item = { id };
            items.set(name, item);
            grouped.add(group, item);
            list.add(item);
          } else {
            items.delete(name);
            grouped.remove(group, known);
            list.remove(known);
          }
        }
        const at = from?.id ?? null;
        for (const [group, list] of lists) {
          expect(grouped.page(group, at, limit)).toEqual(list.page(at, limit));
          expect(grouped.pageBack(group, at, limit)).toEqual(list.pageBack(at, limit));
        }
      },
    ),
  );
});
