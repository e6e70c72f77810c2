import type { QueryType } from "./operation.js";

/** What apis.listKeys and keys.listKeys share. */
export const LIST_KEYS = {
  method: "GET",
  queryTypes: {
    limit: "integer",
    decrypt: "boolean",
    enabled: "boolean",
    expiresBefore: "integer",
    expiresAfter: "integer",
    usedBefore: "integer",
    usedAfter: "integer",
    createdBefore: "integer",
    createdAfter: "integer",
    tags: "list",
    revalidateKeysCache: "boolean",
  } satisfies Readonly<Record<string, QueryType>>,
  errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
} as const;

/** The description of both. `whose`: which keys are listed, in a sentence. */
export function listKeysText(whose: string): string {
  return (
    `One page, in the order of creation unless \`orderBy\` is given. ${whose} A key is listed if it matches every filter. A page reads ` +
    "at most 2,000 keys: with filters it may be short, or empty, and still have a `cursor`. Send the `cursor` of a response with the same " +
    "filters to get the next page. `orderBy` with `expires` or `lastUsedAt` is for an API or user with at most 2,000 keys; otherwise it " +
    "is a 412. `decrypt=true` shows the secrets of recoverable keys, and needs `decrypt_key`, too."
  );
}
