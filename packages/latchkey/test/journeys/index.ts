import { APIS } from "./apis.js";
import { AUDIT_LOG } from "./audit-log.js";
import { DAMAGED_RECORDS } from "./damaged-records.js";
import { DOCTOR } from "./doctor.js";
import { IDENTITIES } from "./identities.js";
import type { Journey } from "./journey.js";
import { KEYS } from "./keys.js";
import { LEAKS } from "./leaks.js";
import { LIMIT_ALGORITHMS } from "./limit-algorithms.js";
import { PERMISSIONS } from "./permissions.js";
import { PORTAL_SESSIONS } from "./portal-sessions.js";
import { RATE_LIMITS } from "./rate-limits.js";
import { RESERVATIONS } from "./reservations.js";
import { REVOCATIONS_OF_DAMAGED } from "./revocations.js";
import { ROOT_KEYS } from "./root-keys.js";
import { SET_UP } from "./set-up.js";
import { STATISTICS } from "./statistics.js";
import { TOKENS } from "./tokens.js";
import { VERIFY_KEY } from "./verify-key.js";
import { WORKSPACES } from "./workspaces.js";

/** One journey per resource, and one for the doctor. A test checks that together they call every operation. */
export const JOURNEYS: readonly Journey[] = [
  APIS,
  KEYS,
  IDENTITIES,
  PERMISSIONS,
  SET_UP,
  ROOT_KEYS,
  PORTAL_SESSIONS,
  LEAKS,
  WORKSPACES,
  RATE_LIMITS,
  LIMIT_ALGORITHMS,
  RESERVATIONS,
  AUDIT_LOG,
  STATISTICS,
  TOKENS,
  VERIFY_KEY,
  DAMAGED_RECORDS,
  REVOCATIONS_OF_DAMAGED,
  DOCTOR,
];
