/** The lists of a latchkey. They are not operations themselves: each reads the pages of one. */
export const LIST_NAMES = [
  "apis",
  "keysOf",
  "identities",
  "rootKeys",
  "auditEvents",
  "reservations",
  "workspaces",
] as const;
