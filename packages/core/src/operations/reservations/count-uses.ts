import type { Hold } from "../../rules/hold.js";
import type { HoldResult } from "../../store/settle.js";
import type { StatisticsSubject } from "../../store/statistics.js";
import { countedBySettle } from "../../store/step-counts.js";
import { type CountableKey, countedFor, subjectsOf } from "../../verification/counted-subjects.js";
import type { CountedKey } from "../../verification/key-cache.js";
import type { OperationContext } from "../context.js";
import { identityOfHold, keyOfHold } from "./hold-owners.js";

/**
 * Counts the uses of a settled reservation, once. `known`: its key; if undefined, the key is read. @returns Null if there is nothing to
 * wait for.
 */
export function countUses(
  context: OperationContext,
  result: HoldResult,
  known: CountedKey | undefined,
): Promise<unknown> | null {
  const { recorder, store, workspaceId } = context;
  if (recorder === null || recorder.isDurable) return null;
  if (result.kind !== "ended" || result.isRepeat) return null;
  const { hold, used, endedAt } = result;
  if (used.uses === 0) return null;
  const count = (key: CountedKey) => recorder.count(key, "EXTRA_USES", endedAt, used.uses);
  if (known !== undefined) {
    count(known);
    return null;
  }
  return findCounted(context, hold).then(({ key, identity }) => {
    if (key !== null) return count({ key, identity, counts: null });
    // The key is gone, so the recorder cannot count it in memory.
    const batch = countedBySettle({ counts: subjectsOfIdentity(identity), now: endedAt }, result);
    return batch === null ? undefined : store.addStatistics(workspaceId, batch);
  });
}

/**
 * The subjects for which the end of a reservation counts its uses; undefined if it is not open. `look`: finds one that another process
 * made.
 */
export async function countedBy(
  context: OperationContext,
  id: string,
  look: () => Promise<Hold | null>,
): Promise<readonly StatisticsSubject[] | undefined> {
  const known = context.reserved.get(id);
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
