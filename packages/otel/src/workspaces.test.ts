import { expect, test } from "vitest";
import { observed } from "./testing/observed.js";

test("workspace and actingAs return the same instrumented latchkey again, as latchkey does", async () => {
  const { latchkey } = await observed();
  expect(latchkey.workspace("ws_other")).toBe(latchkey.workspace("ws_other"));
  expect(latchkey.workspace(latchkey.workspaceId)).toBe(latchkey);
  expect(latchkey.actingAs("billing")).toBe(latchkey.actingAs("billing"));
  expect(latchkey.actingAs("billing")).not.toBe(latchkey);
});
