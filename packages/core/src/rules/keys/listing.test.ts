import { describe, expect, test } from "vitest";
import { HeldPermissions } from "../permission.js";
import { type FilteredKey, filtersIn, isKept, type KeyFilter } from "./listing.js";

const AT = 1_773_144_000_000;

const KEY: FilteredKey = {
  enabled: true,
  name: "North Pier ß",
  start: "pay_live_3fK",
  environment: "live",
  tags: ["eu", "billing"],
  createdAt: AT,
  expires: AT,
  lastUsedAt: AT,
  roles: ["editor", "reader"],
  held: new HeldPermissions(["docs.*", "team"]),
};

const keeps = (filter: KeyFilter, key: Partial<FilteredKey> = {}) =>
  isKept({ ...KEY, ...key }, filtersIn(filter));

describe("a filter by an instant", () => {
  test.each([
    ["expires", "expires"],
    ["used", "lastUsedAt"],
    ["created", "createdAt"],
  ] as const)(
    "%sBefore keeps what is earlier than it, and the other filter what is at it or later",
    (name, of) => {
      const keptBy = (filter: KeyFilter) =>
        [-1, 0, 1].map((ms) => keeps(filter, { [of]: AT + ms }));
      expect(keptBy({ [`${name}Before`]: AT })).toEqual([true, false, false]);
      expect(keptBy({ [`${name}After`]: AT })).toEqual([false, true, true]);
    },
  );

  test("by the expiry keeps no key that never expires", () => {
    const never = { expires: null };
    expect(keeps({ expiresBefore: AT }, never)).toBe(false);
    expect(keeps({ expiresAfter: 0 }, never)).toBe(false);
  });

  test("by the last use counts a key that was never used as used before any instant", () => {
    const never = { lastUsedAt: null };
    expect(keeps({ usedBefore: 0 }, never)).toBe(true);
    expect(keeps({ usedAfter: 0 }, never)).toBe(false);
  });
});

describe("a filter by", () => {
  test("enabled keeps the keys that are enabled, or those that are not", () => {
    for (const enabled of [true, false])
      expect([true, false].map((is) => keeps({ enabled }, { enabled: is }))).toEqual([
        enabled,
        !enabled,
      ]);
  });

  test("a part of the name ignores case, in all scripts", () => {
    for (const nameContains of ["North Pier ß", "n", "PIER", "th p", "SS", "ß"])
      expect(keeps({ nameContains })).toBe(true);
    for (const nameContains of ["south", "pier  ", "northpier"])
      expect(keeps({ nameContains })).toBe(false);
    expect(keeps({ nameContains: "ΟΔΟΣ" }, { name: "Μεγάλη οδός, οδος 7" })).toBe(true);
    // The sign of kelvin and a capital with a dot, whose small letters are others' too.
    expect(keeps({ nameContains: "5 k" }, { name: "5 \u212a" })).toBe(true);
    expect(keeps({ nameContains: "i\u0307zmir" }, { name: "\u0130zmir" })).toBe(true);
    expect(keeps({ nameContains: "n" }, { name: null })).toBe(false);
  });

  test("a part of the name matches every character literally", () => {
    for (const nameContains of [".", ".*", "\\", "[", "%", "_"])
      expect([
        keeps({ nameContains }),
        keeps({ nameContains }, { name: `a${nameContains}b` }),
      ]).toEqual([false, true]);
  });

  test("a start keeps the keys that may begin with it, as far as their start is known", () => {
    for (const start of ["p", "pay_live_3f", "pay_live_3fK", "pay_live_3fK9x"])
      expect(keeps({ start })).toBe(true);
    for (const start of ["Pay", "ay_live", "pay_live_3fk", "pay_live_4fK9x"])
      expect(keeps({ start })).toBe(false);
    expect(keeps({ start: "p" }, { start: "" })).toBe(false);
  });

  test("a permission keeps the keys that a verification would grant it to, also by a wildcard", () => {
    for (const permission of ["team", "docs.read", "docs.drafts.read", "docs.*"])
      expect(keeps({ permission })).toBe(true);
    for (const permission of ["docs", "tea", "team.read", "docsx.read", "*"])
      expect(keeps({ permission })).toBe(false);
    expect(keeps({ permission: "anything" }, { held: new HeldPermissions(["*"]) })).toBe(true);
  });

  test("a role or an environment matches the whole name, exactly", () => {
    expect(["editor", "reader", "Editor", "edit"].map((role) => keeps({ role }))).toEqual([
      ...[true, true],
      ...[false, false],
    ]);
    const kept = ["live", "Live", "liv", ""].map((environment) => keeps({ environment }));
    expect(kept).toEqual([true, false, false, false]);
    expect(keeps({ environment: "" }, { environment: "" })).toBe(true);
    expect(keeps({ environment: "" }, { environment: null })).toBe(false);
  });
});

test("tags keep the keys that have all of them, and others too", () => {
  for (const tags of [[], ["eu"], ["billing", "eu"]]) expect(keeps({ tags })).toBe(true);
  for (const tags of [["EU"], ["eu", "us"], ["e"]]) expect(keeps({ tags })).toBe(false);
  expect(keeps({ tags: ["eu"] }, { tags: [] })).toBe(false);
});

test("several filters keep the keys that each of them keeps", () => {
  const filters: KeyFilter = { enabled: true, expiresBefore: AT + 1, role: "editor" };
  expect(keeps(filters)).toBe(true);
  for (const not of [{ enabled: false }, { expires: AT + 1 }, { roles: [] }])
    expect(keeps(filters, not)).toBe(false);
  expect(keeps({})).toBe(true);
});

test("filters are found in a question in a fixed order, whatever else it contains and whatever is undefined", () => {
  const question = { role: "a", cursor: "c", enabled: false, expiresAfter: 0, name: "x" };
  expect(filtersIn({ ...question, permission: undefined })).toEqual([
    ["enabled", false],
    ["expiresAfter", 0],
    ["role", "a"],
  ]);
});
