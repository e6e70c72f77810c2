import { expect, test } from "vitest";
import { allowedTo } from "./permissions.js";

const held = (...permissions: string[]) => allowedTo({ permissions, rootKeys: false, tasks: [] });

test("* allows everything", () => {
  const { can, canSome } = held("*");
  expect([can("api", "read_key"), can("audit", "read_audit"), canSome("api", "x")]).toEqual([
    true,
    true,
    true,
  ]);
});

test("a permission for all APIs allows each, and one for a single API only that one", () => {
  const all = held("api.*.read_key");
  expect([all.can("api", "read_key", "api_1"), all.can("api", "update_key")]).toEqual([
    true,
    false,
  ]);
  const one = held("api.api_1.read_key");
  expect(one.can("api", "read_key", "api_1")).toBe(true);
  expect(one.can("api", "read_key", "api_2")).toBe(false);
  expect(one.can("api", "read_key")).toBe(false);
  expect(one.canSome("api", "read_key")).toBe(true);
  expect(one.idsOf("api", "read_key")).toEqual(["api_1"]);
});

test("the same action on another kind of resource is another permission", () => {
  const { can, canSome } = held("identity.*.read_reservation");
  expect(can("identity", "read_reservation", "id_1")).toBe(true);
  expect(canSome("api", "read_reservation")).toBe(false);
});

test("root keys need a permission, and a host that allows them", () => {
  const allowed = (rootKeys: boolean, ...permissions: string[]) =>
    allowedTo({ permissions, rootKeys, tasks: [] }).can("root", "read_root_key");
  expect([allowed(true, "*"), allowed(true, "root.*.read_root_key")]).toEqual([true, true]);
  expect(allowed(true, "root.*.create_root_key")).toBe(false);
  expect([allowed(false, "*"), allowed(false, "root.*.read_root_key")]).toEqual([false, false]);
});

test("no permission allows nothing", () => {
  expect(held().canSome("api", "read_api")).toBe(false);
});
