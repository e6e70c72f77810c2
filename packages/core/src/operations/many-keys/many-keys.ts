import { z } from "zod";
import { unavailable } from "../../errors.js";
import { keyType } from "../../records/key.js";
import { afterWriting, type OperationContext, transact } from "../context.js";
import { decodeOrNull, versionIfReadable } from "../damaged.js";
import { EITHER_ID, hasEitherId, identityIds, identityWant } from "../identities/reference.js";
import { evenWithIssues, id, list, refuseField } from "../input.js";
import { deleteListed } from "../keys/delete-key.js";
import { isSwitchedOff, switchKey, switchOffDamaged } from "../keys/update-key.js";
import { operation, type TableOf } from "../operation.js";
import { findRecord, requireId } from "../read.js";
import {
  type ActOnKey,
  actOnKeysById,
  actOnListedKeys,
  type KeyCounts,
  type KeyOutcome,
  type ListedKeys,
  NONE,
} from "./batches.js";
import type { KeysReference, ManyKeysOperations } from "./operations.js";

/** Most keys named one by one. */
const MAX_KEY_IDS = 1_000;

/** Most rounds of looking for keys. A rotation at that moment adds one round; a store that loses writes would add any number. */
const MOST_ROUNDS = 100;

const keysReference = z
  .strictObject({
    apiId: id.optional(),
    ...identityIds,
    keyIds: list(id, MAX_KEY_IDS, "ids").optional(),
  })
  // Returns a boolean, never the value itself, which may be a promise.
  .refine((which) => which.apiId != null || which.keyIds != null || hasEitherId(which), {
    ...EITHER_ID,
    path: ["apiId"],
    error: "is required if none of externalId, identityId and keyIds is given",
  })
  .refine(
    (which) => which.keyIds === undefined || (which.apiId === undefined && !hasEitherId(which)),
    {
      ...evenWithIssues,
      path: ["keyIds"],
      error: "must be given without apiId, externalId and identityId",
    },
  )
  // If undefined counted as absent, the call would change every key that the other fields name.
  .superRefine((which, sink) => {
    for (const [name, value] of Object.entries(which))
      if (value === undefined)
        refuseField(
          sink,
          name,
          "must not be undefined: if it were omitted, the call would apply to more keys",
        );
  });

export const MANY_KEYS_TABLE = {
  deleteKeys: operation(keysReference, async (context, which) => ({
    deletedKeys: (await actOnKeys(context, which, deleteEach)).changed,
  })),

  disableKeys: operation(keysReference, async (context, which) => ({
    disabledKeys: (await actOnKeys(context, which, disableEach)).changed,
  })),

  enableKeys: operation(keysReference, async (context, which) => {
    const { changed, damaged } = await actOnKeys(context, which, enableEach);
    return { enabledKeys: changed, ...(damaged > 0 && { damaged }) };
  }),
} satisfies Partial<TableOf<ManyKeysOperations>>;

async function actOnKeys(
  context: OperationContext,
  { apiId, keyIds, ...owner }: KeysReference,
  act: ActOnKey,
): Promise<KeyCounts> {
  if (keyIds !== undefined) return actOnKeysById(context, keyIds, act);
  if (apiId !== undefined) await requireId(context, { kind: "api", id: apiId });
  let { identityId } = owner;
  if (identityId === undefined && owner.externalId !== undefined) {
    identityId = (await findRecord(context, identityWant(owner)))?.record.id;
    if (identityId === undefined) {
      // An empty commit, so that "no keys" is reliable.
      await transact(context, async () => undefined);
      return NONE;
    }
  }
  return actOnListedKeys(context, { apiId, identityId }, act);
}

/** Acts until no key of a deleted API or identity needs a change: only rotation can add keys. @returns How many were changed. */
export async function actOnEveryKey(
  context: OperationContext,
  listed: ListedKeys,
  act: ActOnKey,
): Promise<number> {
  let total = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const run = () => actOnListedKeys(context, listed, act);
    const { changed } = await (total === 0 ? run() : afterWriting(run));
    total += changed;
    if (changed === 0) return total;
  }
  throw unavailable("keys kept being created or changed; try again", "unknown");
}

/** Deletes a key, readable or not. The audit log records only its API and its identity. */
export const deleteEach: ActOnKey = async (
  work,
  { record, handle },
  apiId,
): Promise<KeyOutcome> => {
  const { context, transaction, audit } = work;
  const { kind, id: keyId, link: identityId } = record;
  transaction.expect({ kind, id: keyId, version: versionIfReadable(record), handle });
  const key = decodeOrNull(keyType, record, context.workspaceId);
  await deleteListed(work, record, key, apiId);
  const before = { apiId: apiId ?? key?.apiId };
  audit({ type: "key.deleted", resourceId: keyId, identityId, unreadable: key === null, before });
  return "changed";
};

/** Switches a key off, readable or not. */
export const disableEach: ActOnKey = (work, { record, handle }) => {
  const { context, transaction } = work;
  const key = decodeOrNull(keyType, record, context.workspaceId);
  if (key === null ? isSwitchedOff(record) : !key.enabled) return "unchanged";
  const { kind, id } = record;
  transaction.expect({ kind, id, version: versionIfReadable(record), handle });
  if (key === null) switchOffDamaged(work, record);
  else switchKey(work, key, false);
  return "changed";
};

const enableEach: ActOnKey = (work, { record, handle }) => {
  const key = decodeOrNull(keyType, record, work.context.workspaceId);
  if (key === null) return "damaged";
  if (key.enabled) return "unchanged";
  const { kind, id, version } = record;
  work.transaction.expect({ kind, id, version, handle });
  switchKey(work, key, true);
  return "changed";
};
