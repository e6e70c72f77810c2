import { expect, test } from "vitest";
import { DEFAULT_WORKSPACE_ID, unwrittenWorkspace, WORKSPACE_ID_PATTERN } from "./workspace.js";

test("a workspace that was never written exists, without a name, enabled, at version 0", () => {
  expect(unwrittenWorkspace("ws_acme")).toEqual({
    id: "ws_acme",
    name: null,
    enabled: true,
    version: 0,
  });
});

test("the default workspace has an id that a workspace may have", () => {
  expect(DEFAULT_WORKSPACE_ID).toMatch(WORKSPACE_ID_PATTERN);
});

test.each(["a", "ws_acme", "Tenant-7", "_", "a".repeat(63), "a".repeat(64)])(
  "%s may be the id of a workspace",
  (id) => {
    expect(id).toMatch(WORKSPACE_ID_PATTERN);
  },
);

test.each(["", "a".repeat(65), "a:b", "a b", "{tag}", "a/b", "ä", "a\n", "a.b"])(
  "%j may not be the id of a workspace: it becomes part of cursors and of names in stores",
  (id) => {
    expect(id).not.toMatch(WORKSPACE_ID_PATTERN);
  },
);
