import type { Operation } from "./operation.js";
import { APIS } from "./operations/apis.js";
import { AUDIT } from "./operations/audit.js";
import { IDENTITIES } from "./operations/identities.js";
import { KEY_GRANTS } from "./operations/key-grants.js";
import { KEYS } from "./operations/keys.js";
import { LIVENESS } from "./operations/liveness.js";
import { MIGRATIONS } from "./operations/migrations.js";
import { PERMISSIONS } from "./operations/permissions.js";
import { RATELIMITS } from "./operations/ratelimits.js";
import { VERIFICATIONS } from "./operations/verifications.js";

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
