import { onWorkspace } from "../auth/required-permissions.js";
import { usagePage } from "../response-schemas/usage.js";
import { KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** What to bill by. */
export const USAGE: readonly Operation[] = [
  defineOperation("usage.exportUsage", {
    method: "GET",
    summary: "Export usage to bill by",
    description:
      "One row for each key, identity, API or tag and each hour, day or month of UTC that is over, two minutes after its end: it stays as it is, and its `id` is the same " +
      "whenever it is told, so that a meter counts it once. `until` says how far these rows go: the next export begins there. A page may be shorter " +
      "than `limit`, or empty, and go on by its `cursor`.",
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
