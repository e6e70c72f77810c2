import { describe, expect, test } from "vitest";
import { grantsWith, grantsWithout } from "./grants.js";

const HELD = [
  { id: "role_1", name: "anchor" },
  { id: "role_2", name: "buoy" },
];
const BY_ID = [{ id: "role_1" }, { id: "role_2" }];

describe("a set with further items", () => {
  test("refers to held grants by id, and to added ones as they were given", () => {
    const items = ["deck", { name: "chart", create: true }, { id: "role_9" }];
    expect(grantsWith(HELD, items)).toEqual([...BY_ID, ...items]);
  });

  test("leaves out grants that are held already, by name or by id, even if they may be created", () => {
    const held = ["anchor", { name: "buoy", create: true }, { id: "role_1" }];
    expect(grantsWith(HELD, [...held, "deck"])).toEqual([...BY_ID, "deck"]);
  });

  test("is undefined if nothing is added", () => {
    expect(grantsWith(HELD, ["anchor", { id: "role_2" }])).toBeUndefined();
    expect(grantsWith(HELD, [])).toBeUndefined();
  });

  test("goes by the id if there is one, whatever the name", () => {
    const item = { id: "role_9", name: "anchor" };
    expect(grantsWith(HELD, [item])).toEqual([...BY_ID, item]);
    expect(grantsWith(HELD, [{ id: "role_1", name: "deck" }])).toBeUndefined();
  });
});

describe("a set without items", () => {
  test("refers to the remaining grants by id", () => {
    expect(grantsWithout(HELD, ["anchor"])).toEqual([{ id: "role_2" }]);
    expect(grantsWithout(HELD, [{ id: "role_2" }, "anchor", "anchor"])).toEqual([]);
  });

  test("is undefined if nothing is removed", () => {
    expect(grantsWithout(HELD, ["deck", { id: "role_9", name: "anchor" }])).toBeUndefined();
    expect(grantsWithout(HELD, [])).toBeUndefined();
    expect(grantsWithout([], ["anchor"])).toBeUndefined();
  });

  test("does not mistake an id for a name, nor a name for an id", () => {
    expect(grantsWithout(HELD, ["role_1", { id: "anchor" }])).toBeUndefined();
  });
});
