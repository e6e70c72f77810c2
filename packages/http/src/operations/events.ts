import { onWorkspace } from "../auth/required-permissions.js";
import { eventPage, noticedCount } from "../response-schemas/audit-log.js";
import { API_ID, EVENT_ID, KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Operations on events. */
export const EVENTS: readonly Operation[] = [
  defineOperation("events.readEvents", {
    method: "GET",
    summary: "Read events in commit order",
    description:
      "Every change, once each and in the same order for every reader: the entries of the audit log, the earliest first. There is " +
      "always a `cursor`, even if nothing is new: send it as `after` of the next request. With `types`, a page may be shorter than `limit`.",
    queryTypes: { limit: "integer", types: "list" },
    response: eventPage,
    errors: ["PRECONDITION_FAILED"],
    example: {
      input: { limit: 10, types: ["key.created"] },
      response: {
        events: [
          {
            id: EVENT_ID,
            type: "key.created",
            workspaceId: "ws_default",
            at: START,
            resourceId: KEY_ID,
            keyId: KEY_ID,
            changes: [{ field: "apiId", after: API_ID }],
          },
        ],
        cursor: "MTpldmVudHM6d3NfZGVmYXVsdDoyLjEuZXZ0XzE",
      },
    },
    requiredPermissions: () => onWorkspace("events", "read_event"),
  }),
  defineOperation("events.notice", {
    summary: "Write events for expiries and thresholds",
    description:
      "Writes an event for each key that expires soon, for each that has expired, and, as far as this server saw them, for uses that are " +
      "low or used up and limits that are nearly reached. Each event is written once, no matter how often and from where this is called. " +
      "Call it about every minute, each time with `cursor` until the response has none.",
    response: noticedCount,
    errors: ["PRECONDITION_FAILED"],
    example: { input: { limit: 100 }, response: { noticed: 2 } },
    requiredPermissions: () => onWorkspace("events", "notice_event"),
  }),
];
