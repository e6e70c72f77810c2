import { describe, expect, test } from "vitest";
import { contextWith } from "../../testing/context.js";
import {
  describePermissions,
  describeRoles,
  grantLabel,
  grantLabels,
  isHeldOneMissing,
  permissionList,
  roleList,
} from "./grant-input.js";

const NOW = 1_000;
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

describe("references", () => {
  test("are by id where there is one, else by name; only create makes anything", () => {
    const items = ["anchor", { name: "buoy" }, { id: "role_1", name: "deck", create: true }];
    const { references, changes } = describeRoles(contextWith(), items, NOW);
    expect(references).toEqual([
      { kind: "name", name: "anchor", orCreate: null },
      { kind: "name", name: "buoy", orCreate: null },
      { kind: "id", id: "role_1" },
    ]);
    expect(changes).toEqual([]);
  });

  test("of a role that may be made carry it, at version 1, and what is to be told", () => {
    const context = contextWith({ workspaceId: "ws_tides", actor: "root_1" });
    const { references, changes } = describeRoles(context, [{ name: "deck", create: true }], NOW);
    const orCreate = {
      id: "role_1",
      workspaceId: "ws_tides",
      name: "deck",
      description: null,
      createdAt: NOW,
      version: 1,
    };
    expect(references).toEqual([{ kind: "name", name: "deck", orCreate }]);
    expect(changes).toMatchObject([
      {
        ifCreated: true,
        change: {
          type: "role.created",
          at: NOW,
          actor: "root_1",
          resourceId: "role_1",
          fields: [{ field: "name", after: "deck" }],
        },
      },
    ]);
  });

  test("of a permission that may be made carry one, which has no version", () => {
    const items = [{ name: "docs.read", create: true }];
    const { references, changes } = describePermissions(contextWith(), items, NOW);
    expect(references).toEqual([
      {
        kind: "name",
        name: "docs.read",
        orCreate: {
          id: "perm_1",
          workspaceId: "ws_default",
          name: "docs.read",
          description: null,
          createdAt: NOW,
        },
      },
    ]);
    expect(changes).toMatchObject([{ change: { type: "permission.created" } }]);
  });
});

describe("labels", () => {
  test("of items are their id where they have one, else their name", () => {
    expect(
      ["a", { name: "b" }, { id: "role_1" }, { id: "role_2", name: "c" }].map(grantLabel),
    ).toEqual(["a", "b", "role_1", "role_2"]);
  });

  test("of what a key will hold are names, ascending, each once", () => {
    const items = [{ id: "role_2" }, "deck", { name: "anchor" }, { id: "role_1" }, "deck"];
    expect(grantLabels(items, HELD)).toEqual(["anchor", "buoy", "deck"]);
  });

  test("of one that is given by an id which the key does not hold yet are that id", () => {
    expect(grantLabels([{ id: "role_3" }], HELD)).toEqual(["role_3"]);
  });

  test("take no name for an id", () => {
    expect(grantLabels(["role_1"], HELD)).toEqual(["role_1"]);
  });
});

describe("one that a key held and that is gone", () => {
  const byId = { kind: "id", id: "role_1" } as const;
  const byName = (name: string) => ({ kind: "name", name, orCreate: null }) as const;

  test("is known by its id", () => {
    expect(isHeldOneMissing(HELD, [byId, byName("deck")], ["role_1", "deck"])).toBe(true);
    expect(isHeldOneMissing(HELD, [byId, byName("deck")], ["deck"])).toBe(false);
    expect(isHeldOneMissing(HELD, [{ kind: "id", id: "role_9" }], ["role_9"])).toBe(false);
    expect(isHeldOneMissing(HELD, undefined, [])).toBe(false);
  });

  test("is not meant by who gave its id for a name", () => {
    expect(isHeldOneMissing(HELD, [byId, byName("role_1")], ["role_1"])).toBe(false);
  });
});
