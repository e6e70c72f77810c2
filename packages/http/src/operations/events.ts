import { onWorkspace } from "../auth/required-permissions.js";
import { eventPage, noticedCount } from "../response-schemas/audit-log.js";
import { API_ID, EVENT_ID, KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Operations on events. */
export const EVENTS: readonly Operation[] = [
  defineOperation("events.readEvents", {
    method: "GET",
    summary: "Read changes in the order of their commits",
    description:
      "Every change, once each and in the same order for every reader: the entries of the audit log, the earliest first. `cursor` is there also where nothing is new: " +
      "ask again with it as `after`. A page may be shorter than `limit` where `types` keeps few.",
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
    summary: "Notice what has come about by itself",
    description:
      "Writes an event for each key that expires soon, for each that has expired, and for uses that are low or gone and limits that are near, as this server saw them: each once, however often and from wherever this is called. " +
      "Call it every minute or so, and with `cursor` until there is none.",
    response: noticedCount,
    errors: ["PRECONDITION_FAILED"],
    example: { input: { limit: 100 }, response: { noticed: 2 } },
    requiredPermissions: () => onWorkspace("events", "notice_event"),
  }),
];
