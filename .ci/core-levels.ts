/**
 * The levels of packages/core/src, lowest first. A file imports only from levels below its own, never from its
 * own level; architecture.test.ts holds it, and fails on a file that is missing here.
 *
 * `operations/*` stands for every file in that folder. Test files and src/testing are free.
 */
export const coreLevels: readonly (readonly string[])[] = [
  ["errors", "frozen", "metadata", "base58", "base64url", "bytes"],
  ["time", "key-ring", "cursor"],
  [
    "id",
    "secret",
    "hash",
    "permission",
    "root-permission",
    "expiry",
    "refill",
    "rate-limit",
    "workspace",
    "change",
    "verification-count",
    "address",
  ],
  [
    "usage",
    "vault",
    "api",
    "role",
    "root-key",
    "permission-query",
    "missing-permissions",
    "field-change",
    "audit-event",
    "refill-view",
  ],
  ["identity"],
  ["key", "lifecycle", "charge", "usage-refusal", "identity-view", "input"],
  ["store", "verdict", "key-cache", "key-limits", "key-settings", "drawn-uses", "identity-facts"],
  ["event"],
  ["verify", "context", "key-view", "key-facts"],
  ["verify-question", "repeated-request", "changes"],
  ["recovery", "key-removal", "new-key", "grant-reference"],
  ["key-patch"],
  ["key-change"],
  ["operations/*"],
  ["latchkey"],
  ["index"],
];
