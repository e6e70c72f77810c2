import { onWorkspace } from "../auth/required-permissions.js";
import { usagePage } from "../response-schemas/usage.js";
import { KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Usage for billing. */
export const USAGE: readonly Operation[] = [
  defineOperation("usage.exportUsage", {
    method: "GET",
    summary: "Export usage for billing",
    description:
      "One row for each key, identity, API or tag and each hour, day or month of UTC, from two minutes after its end. A row never " +
      "changes, and its `id` is always the same, so that a meter counts it only once. `until` is the end of these rows: the next export " +
      "begins there. A page may be shorter than `limit`, or empty, and still have a `cursor`.",
    queryTypes: { start: "integer", end: "integer", limit: "integer" },
    response: usagePage,
    example: {
      input: { start: START, end: START + 3_600_000, granularity: "hour", by: "key" },
      response: {
        rows: [
          {
            id: "usage_Yb0gXkCw1zHn3m9cV4tQ8A",
            start: START,
            keyId: KEY_ID,
            outcomes: { VALID: 1_180, RATE_LIMITED: 24 },
            uses: 1_180,
          },
        ],
        until: START + 3_600_000,
      },
    },
    requiredPermissions: () => onWorkspace("usage", "read_usage"),
  }),
];
