import { onApiById, onApiOfKey, onIdentity } from "../auth/required-permissions.js";
import { verifications } from "../response-schemas/verifications.js";
import { KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Usage statistics. */
export const VERIFICATIONS: readonly Operation[] = [
  defineOperation("keys.getVerifications", {
    method: "GET",
    summary: "Count verifications",
    description:
      "How often a key, or the keys of an identity or an API, were verified, by verdict: exactly one of `keyId`, " +
      "`identityId` (or `externalId`) and `apiId`. Returns every bucket that the range touches, as a whole. Needs " +
      "`read_api` for an API and `read_identity` for an identity. Counts are a few seconds behind.",
    queryTypes: { start: "integer", end: "integer" },
    response: verifications,
    errors: ["NOT_FOUND"],
    example: {
      input: { keyId: KEY_ID, start: START, end: START + 3_600_000, granularity: "hour" },
      response: {
        verifications: [
          {
            time: START,
            success: 1_180,
            rateLimited: 24,
            usageExceeded: 0,
            outcomes: { VALID: 1_180, RATE_LIMITED: 24 },
          },
        ],
      },
    },
    requiredPermissions: ({ keyId, apiId, identityId, externalId, ownerId }) => {
      if (keyId !== undefined) return onApiOfKey(keyId, "read_key");
      if (apiId !== undefined) return onApiById(apiId, "read_api");
      return onIdentity("read_identity", { identityId, externalId: externalId ?? ownerId });
    },
  }),
];
