import fc from "fast-check";
import { expect, test } from "vitest";
import type { NamedGrant } from "../../verification/loaded-key.js";
import { type GrantItem, grantLabels } from "./grant-input.js";
import { grantsWith, grantsWithout } from "./grants.js";

const NAMES = ["anchor", "buoy", "chart", "deck", "fender"];
const ALL: readonly NamedGrant[] = NAMES.map((name, index) => ({ id: `role_${index}`, name }));

const held = fc.subarray([...ALL]);
const item: fc.Arbitrary<GrantItem> = fc
  .constantFrom(...ALL)
  .chain(({ id, name }) =>
    fc.constantFrom<GrantItem>(
      name,
      { name },
      { id },
      { name, create: true },
      { id, name: "deck" },
    ),
  );
const items = fc.array(item, { maxLength: 6 });

/** What a key holds after a write of this set, in a workspace where all of them exist. */
function holding(before: readonly NamedGrant[], set: readonly GrantItem[] | undefined) {
  return set === undefined
    ? before
    : ALL.filter(({ name }) => grantLabels(set, ALL).includes(name));
}

function meant(given: readonly GrantItem[]): readonly NamedGrant[] {
  return holding([], given);
}

test("exactly the items are added, and no held grant is lost", () => {
  fc.assert(
    fc.property(held, items, (before, given) => {
      const after = holding(before, grantsWith(before, given));
      expect(new Set(after)).toEqual(new Set([...before, ...meant(given)]));
    }),
  );
});

test("exactly the items are removed", () => {
  fc.assert(
    fc.property(held, items, (before, given) => {
      const after = holding(before, grantsWithout(before, given));
      const gone = meant(given);
      expect(after).toEqual(before.filter((grant) => !gone.includes(grant)));
    }),
  );
});

test("adding or removing a second time changes nothing", () => {
  fc.assert(
    fc.property(held, items, (before, given) => {
      expect(grantsWith(holding(before, grantsWith(before, given)), given)).toBeUndefined();
      expect(grantsWithout(holding(before, grantsWithout(before, given)), given)).toBeUndefined();
    }),
  );
});

test("held grants are referred to only by id", () => {
  fc.assert(
    fc.property(held, items, (before, given) => {
      const set = grantsWith(before, given) ?? [];
      expect(set.slice(0, before.length)).toEqual(
        set.length === 0 ? [] : before.map(({ id }) => ({ id })),
      );
    }),
  );
});
