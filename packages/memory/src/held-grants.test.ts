import { aPermission, aRole } from "@latchkey/conformance";
import { expect, test } from "vitest";
import { HeldGrants, NO_GRANTS } from "./held-grants.js";
import { StoredPermission, StoredRole } from "./stored-grants.js";

test("names are put together once, and again when the epoch has moved", () => {
  const permission = new StoredPermission(aPermission("docs.read"));
  const held = new HeldGrants([], [permission]);
  const names = held.namesAt(3);
  expect(held.namesAt(3)).toBe(names);
  permission.isLive = false;
  expect(held.namesAt(3)).toBe(names);
  expect(held.namesAt(4).permissions).toEqual([]);
});

test("a role that was deleted gives nothing, and a permission that was deleted comes through no role", () => {
  const [read, write] = [
    new StoredPermission(aPermission("docs.read", 1)),
    new StoredPermission(aPermission("docs.write", 2)),
  ];
  const reader = new StoredRole(aRole("reader", 1), [read]);
  const writer = new StoredRole(aRole("writer", 2), [read, write]);
  const held = new HeldGrants([writer, reader], []);
  expect(held.namesAt(1).permissions).toEqual(["docs.read", "docs.write"]);
  read.isLive = false;
  expect(held.namesAt(2)).toMatchObject({
    roles: ["reader", "writer"],
    permissions: ["docs.write"],
  });
  writer.isLive = false;
  expect(held.namesAt(3)).toMatchObject({ roles: ["reader"], permissions: [] });
});

test("what is read of grants is frozen", () => {
  const permission = new StoredPermission(aPermission("docs.read"));
  const { direct, roles, permissions } = new HeldGrants([], [permission]).namesAt(1);
  for (const value of [
    direct,
    direct.roles,
    direct.permissions,
    direct.permissions[0],
    roles,
    permissions,
  ]) {
    expect(Object.isFrozen(value)).toBe(true);
  }
});

test("keys that hold nothing share their names across workspaces, whatever their epochs are", () => {
  expect(NO_GRANTS.namesAt(1)).toBe(NO_GRANTS.namesAt(7));
});
