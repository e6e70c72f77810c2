import { APIS } from "./apis.js";
import { AUDIT } from "./audit.js";
import { IDENTITIES } from "./identities.js";
import { KEY_GRANTS } from "./key-grants.js";
import { KEYS } from "./keys.js";
import { LIVENESS } from "./liveness.js";
import { MIGRATIONS } from "./migrations.js";
import type { Operation } from "./operation.js";
import { PERMISSIONS } from "./permissions.js";
import { RATELIMITS } from "./ratelimits.js";
import { VERIFICATIONS } from "./verifications.js";

/** Every operation of the service, one entry each: nothing else has to know that it exists. */
export const OPERATIONS: readonly Operation[] = [
  ...LIVENESS,
  ...APIS,
  ...KEYS,
  ...KEY_GRANTS,
  ...VERIFICATIONS,
  ...IDENTITIES,
  ...PERMISSIONS,
  ...AUDIT,
  ...RATELIMITS,
  ...MIGRATIONS,
];
