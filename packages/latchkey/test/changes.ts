import type { Latchkey } from "@latchkey/core";
import { LIST_NAMES } from "../src/testing/list-names.js";
import { API_CASES } from "./change-cases/apis.js";
import type { ChangeCase } from "./change-cases/fixture.js";
import { IDENTITY_CASES } from "./change-cases/identities.js";
import { KEY_GRANT_CASES } from "./change-cases/key-grants.js";
import { KEY_CASES } from "./change-cases/keys.js";
import { RATE_LIMIT_CASES } from "./change-cases/rate-limits.js";
import { ROLE_CASES } from "./change-cases/roles.js";
import { WORKSPACE_CASES } from "./change-cases/workspaces.js";

/** At least one way to call each operation that changes something. A test checks that none is missing. */
export const CHANGE_CASES: readonly ChangeCase[] = [
  ...API_CASES,
  ...KEY_CASES,
  ...KEY_GRANT_CASES,
  ...IDENTITY_CASES,
  ...RATE_LIMIT_CASES,
  ...ROLE_CASES,
  ...WORKSPACE_CASES,
];

/** Members of a latchkey that change no configuration: reads, verifications, counters, and its own properties. */
export const CHANGES_NOTHING: ReadonlySet<string> = new Set<keyof Latchkey>([
  ...LIST_NAMES,
  "workspaceId",
  "now",
  "workspace",
  "actingAs",
  "getApi",
  "listApis",
  "verifyKey",
  "verifier",
  "explainKey",
  "jwks",
  "endLeases",
  "exchangeKey",
  "reserve",
  "settle",
  "release",
  "renew",
  "listReservations",
  "whoami",
  "findApiOfKey",
  "getKey",
  "listKeys",
  "getIdentity",
  "listIdentities",
  "getPermission",
  "listPermissions",
  "getRole",
  "listRoles",
  "listRootKeys",
  "authenticateRootKey",
  "createPortalSession",
  "revokePortalSession",
  "openPortalSession",
  "limit",
  "getVerifications",
  "exportUsage",
  "pruneVerifications",
  "listAuditEvents",
  "pruneAuditEvents",
  "readEvents",
  "notice",
  "listWorkspaces",
  // The log is deleted with the workspace.
  "deleteWorkspace",
  "getWorkspace",
  "isWorkspaceEnabled",
  "close",
]);
