import { expect, test } from "vitest";
import { entryWith } from "../testing/records.js";
import { toAuditEvent } from "./entry.js";

const fields = [{ field: "name", before: "tides", after: "gates" }];
const entry = entryWith({ unreadable: true, erased: true, fields });

test("an event shows its whole entry", () => {
  expect(toAuditEvent(entry)).toStrictEqual({
    id: "evt_1",
    type: "key.updated",
    workspaceId: "ws_default",
    at: 1_000,
    actor: "root_1",
    resourceId: "key_1",
    keyId: "key_1",
    identityId: "id_1",
    unreadable: true,
    erased: true,
    changes: [{ field: "name", before: "tides", after: "gates" }],
  });
});

test("fields without a value are absent", () => {
  const none = {
    actor: null,
    keyId: null,
    identityId: null,
    unreadable: false,
    erased: false,
    fields: [],
  };
  const bare = { ...entry, ...none };
  expect(toAuditEvent(bare)).toStrictEqual({
    id: "evt_1",
    type: "key.updated",
    workspaceId: "ws_default",
    at: 1_000,
    resourceId: "key_1",
    changes: [],
  });
});
