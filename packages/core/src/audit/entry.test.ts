import { describe, expect, test } from "vitest";
import { contextWith } from "../testing/context.js";
import { buildAuditEntry } from "./entry.js";

const RENAMED = {
  type: "key.updated",
  at: 1_000,
  resourceId: "key_1",
  keyId: "key_1",
  identityId: "id_1",
  before: { name: "tides", enabled: true },
  after: { name: "gates", enabled: true },
} as const;

describe("the audit entry of a change", () => {
  test("has an id, a workspace, an author and the fields that differ", () => {
    const context = contextWith({ workspaceId: "ws_tides", actor: "root_1" });
    expect(buildAuditEntry(context, RENAMED)).toEqual({
      id: "evt_1",
      workspaceId: "ws_tides",
      type: "key.updated",
      at: 1_000,
      actor: "root_1",
      resourceId: "key_1",
      keyId: "key_1",
      identityId: "id_1",
      unreadable: false,
      erased: false,
      leakMark: null,
      fields: [{ field: "name", before: "tides", after: "gates" }],
    });
  });

  test("concerns no key and no identity, and has nothing before and after, unless it says so", () => {
    const change = { type: "workspace.enabled", at: 1, resourceId: "ws_default" } as const;
    expect(buildAuditEntry(contextWith(), change)).toMatchObject({
      actor: null,
      keyId: null,
      identityId: null,
      fields: [],
    });
  });

  test("is dated now, and concerns the changed key or identity, unless it says otherwise", () => {
    const context = contextWith();
    const entryOf = (type: "key.updated" | "identity.updated" | "root_key.revoked") =>
      buildAuditEntry(context, { type, resourceId: "it" });
    expect(entryOf("key.updated")).toMatchObject({ keyId: "it", identityId: null });
    expect(entryOf("identity.updated")).toMatchObject({ keyId: null, identityId: "it" });
    expect(entryOf("root_key.revoked")).toMatchObject({ keyId: null, identityId: null });
    expect(entryOf("key.updated").at).toBe(context.now());
  });

  test("has an id of its own each time", () => {
    const context = contextWith();
    const ids = [RENAMED, RENAMED].map((change) => buildAuditEntry(context, change).id);
    expect(new Set(ids).size).toBe(2);
  });
});
