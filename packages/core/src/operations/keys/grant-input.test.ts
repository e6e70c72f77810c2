import { describe, expect, test } from "vitest";
import { grantLabels, permissionList, readGrantItem, roleList } from "./grant-input.js";

const HELD = [
  { id: "role_1", name: "anchor" },
  { id: "role_2", name: "buoy" },
];

describe("a list of roles or permissions", () => {
  test.each([
    ["anchor"],
    [{ name: "anchor" }],
    [{ id: "role_1" }],
    [{ id: "role_1", name: "anchor" }],
    [{ name: "anchor", create: true }],
    [{ name: "anchor", create: false }],
    ["x".repeat(512)],
    [{ id: "x".repeat(128) }],
  ])("takes %j", (item) => {
    for (const list of [roleList, permissionList])
      expect(list.safeParse([item])).toMatchObject({ success: true, data: [item] });
  });

  test.each([
    [{}],
    [{ create: true }],
    [{ name: undefined }],
    [{ name: "anchor", colour: "red" }],
    [{ name: "anchor", create: "yes" }],
    [{ name: "a b" }],
    [""],
    ["x".repeat(513)],
    [{ id: "" }],
    [{ id: "x".repeat(129) }],
    [7],
    [null],
    [["anchor"]],
  ])("refuses %j, by its place", (item) => {
    for (const list of [roleList, permissionList]) {
      const { error } = list.safeParse(["anchor", item]);
      expect(error?.issues.map(({ path }) => path[0])).toEqual([1]);
    }
  });

  test("has at most 100 roles, or 1,000 permissions", () => {
    const items = (count: number) => Array.from({ length: count }, () => "anchor");
    const isTaken = (list: typeof roleList, count: number) => list.safeParse(items(count)).success;
    expect([0, 99, 100, 101].map((count) => isTaken(roleList, count))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect([999, 1_000, 1_001].map((count) => isTaken(permissionList, count))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("an item", () => {
  test.each([
    ["anchor", { label: "anchor", isId: false, mayCreate: false }],
    [{ name: "anchor" }, { label: "anchor", isId: false, mayCreate: false }],
    [
      { name: "anchor", create: false },
      { label: "anchor", isId: false, mayCreate: false },
    ],
    [
      { name: "anchor", create: true },
      { label: "anchor", isId: false, mayCreate: true },
    ],
    [{ id: "role_1" }, { label: "role_1", isId: true, mayCreate: false }],
    [
      { id: "role_1", name: "deck", create: true },
      { label: "role_1", isId: true, mayCreate: false },
    ],
  ])(
    "%j is named by its id if it has one, otherwise by its name; only a name can be created",
    (item, reference) => {
      expect(readGrantItem(item)).toEqual(reference);
    },
  );
});

describe("labels", () => {
  test("of what a key will hold are names, ascending, each once", () => {
    const items = [{ id: "role_2" }, "deck", { name: "anchor" }, { id: "role_1" }, "deck"];
    expect(grantLabels(items, HELD)).toEqual(["anchor", "buoy", "deck"]);
  });

  test("of a grant that is given by id and not held yet are that id", () => {
    expect(grantLabels([{ id: "role_3" }], HELD)).toEqual(["role_3"]);
  });

  test("do not mistake a name for an id", () => {
    expect(grantLabels(["role_1"], HELD)).toEqual(["role_1"]);
  });
});
