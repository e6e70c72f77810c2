import { type Noting, noteChange } from "../../audit/entry.js";
import type { LoggedChange } from "../../records/audit-entry.js";
import { type IdentityRecord, newIdentity } from "../../records/identity.js";
import type { EpochMs } from "../../time.js";

/** An identity that is made in the same write where it is missing, and what is to be told of it then. */
export interface IdentityOnDemand {
  readonly identity: IdentityRecord;
  readonly change: LoggedChange;
}

/** Describes the identity of this `externalId`, should there be none yet. */
export function identityOnDemand(
  context: Noting,
  externalId: string,
  now: EpochMs,
): IdentityOnDemand {
  const identity = newIdentity(context.newId("id"), context.workspaceId, externalId, now);
  const change = noteChange(context, {
    type: "identity.created",
    at: now,
    resourceId: identity.id,
    identityId: identity.id,
    after: { externalId },
    ifCreated: true,
  });
  return { identity, change };
}
