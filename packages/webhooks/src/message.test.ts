import { type AuditEvent, LAST_INSTANT } from "@latchkey/core";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { messageOf } from "./message.js";
import { secretOf } from "./testing/sender.js";

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [LAST_INSTANT, "+275760-09-13T00:00:00.000Z"],
  [LAST_INSTANT + 1, "+275760-09-13T00:00:00.000Z"],
])("an event of the instant %i can be sent, whatever was stored", (at, timestamp) => {
  const event: AuditEvent = {
    id: "evt_1",
    type: "key.deleted",
    workspaceId: "ws_default",
    at,
    resourceId: "key_1",
    changes: [],
  };
  const { body } = messageOf(event, 1_000, [new Webhook(secretOf())]);
  expect(JSON.parse(body)).toMatchObject({ timestamp, data: { id: "evt_1", at } });
});
