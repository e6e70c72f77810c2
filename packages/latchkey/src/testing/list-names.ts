/** The lists of a latchkey as loops. They are no operations: each reads the pages of one. */
export const LIST_NAMES = [
  "apis",
  "keysOf",
  "identities",
  "rootKeys",
  "auditEvents",
  "reservations",
  "workspaces",
] as const;
