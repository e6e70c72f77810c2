import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { createCallers } from "./callers.js";

const open = () => createLatchkey({ store: memoryStore() });

test("the same workspace, actor and permissions are the same caller; any difference makes another one", () => {
  const callerOf = createCallers(open());
  const ours = callerOf("ws_1", "root_1", ["*"]);
  expect(callerOf("ws_1", "root_1", ["*"])).toBe(ours);
  for (const [workspaceId, actor] of [
    ["ws_2", "root_1"],
    ["ws_1", "root_2"],
    ["ws_1", null],
  ] as const)
    expect(callerOf(workspaceId, actor, ["*"]).latchkey).not.toBe(ours.latchkey);
});

test("a caller without an actor in latchkey's own workspace has the latchkey itself", () => {
  const latchkey = open();
  expect(createCallers(latchkey)("ws_default", null, []).latchkey).toBe(latchkey);
});

test("permissions are those of the request, even if they or their list have changed since the last one", () => {
  const callerOf = createCallers(open());
  const held = ["api.api_1.verify_key", "api.api_2.verify_key"];
  const before = callerOf("ws_1", "root_1", held);
  expect(before.verifyScope).toEqual({ apiIds: ["api_1", "api_2"] });
  held.pop();
  const after = callerOf("ws_1", "root_1", held);
  expect([after.permissions, after.verifyScope]).toEqual([held, { apiIds: ["api_1"] }]);
  expect(after.latchkey).toBe(before.latchkey);
  expect(before.permissions).toHaveLength(2);
  expect(callerOf("ws_1", "root_1", ["api.*.verify_key"]).verifyScope).toEqual({});
  expect(callerOf("ws_1", "root_1", ["api.api_1.read_key"]).verifyScope).toEqual({ apiIds: [] });
});

test("no name of an actor makes it another caller, or a workspace", () => {
  const callerOf = createCallers(open());
  const actor = (name: string) => callerOf("ws_1", name, []);
  expect(actor("a b").latchkey).not.toBe(actor("a").latchkey);
  expect(() => callerOf("ws_1 a", "b", [])).toThrow('"workspaceId" must be');
  expect(() => actor("")).toThrow('"actor" must be a string of 1 to 256 characters');
});

test("ten thousand are kept, and one more replaces the oldest", () => {
  const callerOf = createCallers(open());
  const actor = (name: number) => callerOf("ws_1", `actor ${name}`, []);
  const first = actor(0);
  const second = actor(1);
  for (let name = 2; name < 10_000; name += 1) actor(name);
  expect(actor(0)).toBe(first);
  actor(10_000);
  expect(actor(1)).toBe(second);
  expect(actor(0)).not.toBe(first);
});
