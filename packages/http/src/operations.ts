import type { Operation } from "./operation.js";
import { APIS } from "./operations/apis.js";
import { IDENTITIES } from "./operations/identities.js";
import { KEYS } from "./operations/keys.js";
import { LIVENESS } from "./operations/liveness.js";

/** Every operation of the service, one entry each: nothing else has to know that it exists. */
export const OPERATIONS: readonly Operation[] = [...LIVENESS, ...APIS, ...KEYS, ...IDENTITIES];
