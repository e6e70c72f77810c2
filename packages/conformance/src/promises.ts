import { apiPromises } from "./apis.js";
import { auditLogPromises } from "./audit-log.js";
import { bulkInsertPromises } from "./bulk-inserts.js";
import { chargingPromises } from "./charging.js";
import { closingPromises } from "./closing.js";
import { countingPromises } from "./counting-uses.js";
import { deletingApisPromises } from "./deleting-apis.js";
import { deletingGrantsPromises } from "./deleting-grants.js";
import { deletingIdentitiesPromises } from "./deleting-identities.js";
import { grantPromises } from "./grants.js";
import { guardedUpdatePromises } from "./guarded-updates.js";
import { handedOutPromises } from "./handed-out.js";
import { identityPromises } from "./identities.js";
import { identityUsePromises } from "./identity-uses.js";
import { isolationPromises } from "./isolation.js";
import { loggedOnDemandPromises } from "./logged-on-demand.js";
import { loggedWritePromises } from "./logged-writes.js";
import { lookupPromises } from "./lookup.js";
import { modelPromises } from "./model-check.js";
import { namespacePromises } from "./namespaces.js";
import { paginationPromises } from "./pagination.js";
import { refillPromises } from "./refill.js";
import { repeatedRequestPromises } from "./repeated-requests.js";
import { revocationPromises } from "./revocation.js";
import { rolePromises } from "./roles.js";
import { rotatingPromises } from "./rotating.js";
import { sharedCounterPromises } from "./shared-counters.js";
import { snapshotPromises } from "./snapshots.js";
import type { StorePromise } from "./store-promise.js";
import { rootKeyPromises, workspacePromises } from "./tenants.js";
import { verificationCountPromises } from "./verification-counts.js";
import { windowPromises } from "./windows.js";

/** Promises of one capability of a store. */
export interface Capability {
  readonly name: string;
  readonly promises: readonly StorePromise[];
}

/** Everything that every store promises, by capability. */
export const CAPABILITIES: readonly Capability[] = [
  { name: "lookup", promises: lookupPromises },
  { name: "records handed in and out", promises: handedOutPromises },
  { name: "inserting many keys", promises: bulkInsertPromises },
  { name: "pagination", promises: paginationPromises },
  { name: "guarded updates", promises: guardedUpdatePromises },
  { name: "reading while others write", promises: snapshotPromises },
  { name: "rotating keys", promises: rotatingPromises },
  { name: "counters of rotated keys", promises: sharedCounterPromises },
  { name: "counting uses", promises: countingPromises },
  { name: "charging", promises: chargingPromises },
  { name: "refill", promises: refillPromises },
  { name: "rate-limit windows", promises: windowPromises },
  { name: "repeated requests", promises: repeatedRequestPromises },
  { name: "limits of no key", promises: namespacePromises },
  { name: "counting verifications", promises: verificationCountPromises },
  { name: "identities", promises: identityPromises },
  { name: "uses of identities", promises: identityUsePromises },
  { name: "deleting identities", promises: deletingIdentitiesPromises },
  { name: "revocation", promises: revocationPromises },
  { name: "APIs", promises: apiPromises },
  { name: "deleting APIs", promises: deletingApisPromises },
  { name: "roles and permissions", promises: grantPromises },
  { name: "setting and listing roles", promises: rolePromises },
  { name: "deleting roles and permissions", promises: deletingGrantsPromises },
  { name: "workspaces", promises: workspacePromises },
  { name: "root keys", promises: rootKeyPromises },
  { name: "the audit log", promises: auditLogPromises },
  { name: "what is made on demand, in the audit log", promises: loggedOnDemandPromises },
  { name: "writes and the audit log", promises: loggedWritePromises },
  { name: "isolation", promises: isolationPromises },
  { name: "closing", promises: closingPromises },
  { name: "the model", promises: modelPromises },
];
