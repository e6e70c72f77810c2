import { LatchkeyError } from "../../errors.js";
import { type IdentityRecord, identityType } from "../../records/identity.js";
import type { Hold } from "../../rules/hold.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { getKeyById } from "../keys/load.js";
import { findRecord } from "../read.js";

/** The key of a hold; null if it was deleted, while another key of its rotation still has its counters. */
export async function keyOfHold(
  context: OperationContext,
  { keyId }: Pick<Hold, "keyId">,
): Promise<LoadedKey | null> {
  try {
    return await getKeyById(context, keyId);
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

/** The identity that the key had when the hold was made; null for none, or if it is gone or damaged. `loaded`: the current key. */
export async function identityOfHold(
  context: OperationContext,
  { identityId }: Pick<Hold, "identityId">,
  loaded: Pick<LoadedKey, "identity"> | null,
): Promise<IdentityRecord | null> {
  if (identityId === null) return null;
  if (loaded?.identity?.id === identityId) return loaded.identity;
  const stored = await findRecord(context, { kind: "identity", id: identityId });
  return stored && decodeOrNull(identityType, stored.record, context.workspaceId);
}
