import { APIS } from "./apis.js";
import { AUDIT_LOG } from "./audit-log.js";
import { EVENTS } from "./events.js";
import { HEALTH } from "./health.js";
import { IDENTITIES } from "./identities.js";
import { INTROSPECTION } from "./introspection.js";
import { KEY_PERMISSIONS } from "./key-permissions.js";
import { KEYS } from "./keys.js";
import { MIGRATIONS } from "./migrations.js";
import type { Operation } from "./operation.js";
import { PERMISSIONS } from "./permissions.js";
import { RATELIMITS } from "./ratelimits.js";
import { RESERVATIONS } from "./reservations.js";
import { ROOT_KEYS } from "./root-keys.js";
import { TOKENS } from "./tokens.js";
import { USAGE } from "./usage.js";
import { VERIFICATIONS } from "./verifications.js";

/** Every operation of the service, one entry each. Nothing else needs to be changed for a new one. */
export const OPERATIONS: readonly Operation[] = [
  ...HEALTH,
  ...APIS,
  ...KEYS,
  ...INTROSPECTION,
  ...TOKENS,
  ...RESERVATIONS,
  ...KEY_PERMISSIONS,
  ...VERIFICATIONS,
  ...USAGE,
  ...IDENTITIES,
  ...PERMISSIONS,
  ...ROOT_KEYS,
  ...AUDIT_LOG,
  ...EVENTS,
  ...RATELIMITS,
  ...MIGRATIONS,
];
