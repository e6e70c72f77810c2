import { hasCode } from "../../errors.js";
import { type IdentityRecord, identityType } from "../../records/identity.js";
import type { Hold } from "../../rules/hold.js";
import type { HoldResult } from "../../store/settle.js";
import type { StatisticsSubject } from "../../store/statistics.js";
import { countedBySettle } from "../../store/step-counts.js";
import { type CountableKey, countedFor, subjectsOf } from "../../verification/counted-subjects.js";
import type { CountedKey } from "../../verification/key-cache.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { getKeyById } from "../keys/load.js";
import { findRecord } from "../read.js";

/**
 * Counts the uses of a settled reservation once, unless its step did. `known`: its key, if this process made it; `counts`: what the step
 * was told to count. @returns Null: there is nothing to wait for.
 */
export function countUses(
  { recorder, store, workspaceId }: OperationContext,
  result: HoldResult,
  known: CountedKey | undefined,
  counts: readonly StatisticsSubject[] | undefined,
): Promise<unknown> | null {
  if (result.kind !== "ended" || result.isRepeat || recorder?.isDurable) return null;
  const { used, endedAt } = result;
  if (known !== undefined) {
    if (used.uses > 0) recorder?.count(known, "EXTRA_USES", endedAt, used.uses);
    return null;
  }
  const batch = store.countsInStep ? null : countedBySettle({ counts, now: endedAt }, result);
  return batch && store.addStatistics(workspaceId, batch);
}

/** The subjects for which the end of a reservation counts its uses; undefined if it is not open. `look`: finds one whose key is not `known`. */
export async function countedBy(
  context: OperationContext,
  known: CountedKey | undefined,
  look: () => Promise<Hold | null>,
): Promise<readonly StatisticsSubject[] | undefined> {
  if (known !== undefined) return subjectsOf(countedFor(known));
  const hold = await look();
  if (hold === null) return undefined;
  const { key, identity } = await findCounted(context, hold);
  return key === null ? subjectsOfIdentity(identity) : subjectsOf(countedFor({ key, identity }));
}

/** The key and the identity that the uses of a reservation count for; null for a deleted one. */
type Counted = { readonly key: CountableKey["key"] | null } & Pick<CountableKey, "identity">;

async function findCounted(context: OperationContext, hold: Hold): Promise<Counted> {
  const loaded = await keyOfHold(context, hold);
  const key = loaded?.key ?? null;
  return { key, identity: await identityOfHold(context, hold, loaded) };
}

function subjectsOfIdentity(identity: CountableKey["identity"]): readonly StatisticsSubject[] {
  return identity === null ? [] : [{ kind: "identity", id: identity.id }];
}

/** The key of a hold; null if it was deleted, while another key of its rotation still has its counters. */
export async function keyOfHold(
  context: OperationContext,
  { keyId }: Pick<Hold, "keyId">,
): Promise<LoadedKey | null> {
  try {
    return await getKeyById(context, keyId);
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return null;
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
  return stored && decodeOrNull(identityType, stored.record, context);
}
