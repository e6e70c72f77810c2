import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { createBinder } from "./bound-latchkeys.js";

const open = () => createLatchkey({ store: memoryStore() });

test("the same workspace and actor get the same latchkey, and others another", () => {
  const bind = createBinder(open());
  const ours = bind("ws_1", "root_1");
  expect(bind("ws_1", "root_1")).toBe(ours);
  for (const other of [bind("ws_2", "root_1"), bind("ws_1", "root_2"), bind("ws_1", null)])
    expect(other).not.toBe(ours);
});

test("nobody in particular in its own workspace is the latchkey itself", () => {
  const latchkey = open();
  expect(createBinder(latchkey)("ws_default", null)).toBe(latchkey);
});

test("an actor's name cannot make it another's, nor a workspace", () => {
  const bind = createBinder(open());
  expect(bind("ws_1", "a b")).not.toBe(bind("ws_1", "a"));
  expect(() => bind("ws_1 a", "b")).toThrow('"workspaceId" must be');
  expect(() => bind("ws_1", "")).toThrow('"actor" must be a string of 1 to 256 characters');
});

test("a thousand are kept, and the oldest gives way to one more", () => {
  const bind = createBinder(open());
  const first = bind("ws_1", "actor 0");
  const second = bind("ws_1", "actor 1");
  for (let index = 2; index < 1_000; index += 1) bind("ws_1", `actor ${index}`);
  expect(bind("ws_1", "actor 0")).toBe(first);
  bind("ws_1", "actor 1000");
  expect(bind("ws_1", "actor 1")).toBe(second);
  expect(bind("ws_1", "actor 0")).not.toBe(first);
});
