import { expect, test } from "vitest";
import { observed } from "./testing/observed.js";

test("a latchkey that is observed is kept for each workspace and actor, as latchkey keeps them", async () => {
  const { latchkey } = await observed();
  expect(latchkey.workspace("ws_other")).toBe(latchkey.workspace("ws_other"));
  expect(latchkey.workspace(latchkey.workspaceId)).toBe(latchkey);
  expect(latchkey.actingAs("billing")).toBe(latchkey.actingAs("billing"));
  expect(latchkey.actingAs("billing")).not.toBe(latchkey);
});
