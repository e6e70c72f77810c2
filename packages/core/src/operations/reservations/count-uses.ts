import { LatchkeyError } from "../../errors.js";
import type { Hold } from "../../rules/hold.js";
import type { HoldResult } from "../../store/settle.js";
import type { StatisticsSubject } from "../../store/statistics.js";
import { countedFor, subjectsOf } from "../../verification/counted.js";
import type { CountedKey } from "../../verification/key-cache.js";
import type { OperationContext } from "../context.js";
import { getKeyById } from "../keys/load.js";

/**
 * Counts the uses that a reservation settled, once.
 *
 * @param known - Its key; undefined if another process made it: then the key is read.
 * @returns Null if there is nothing to wait for. Rejects only with failures of the store.
 */
export function countUses(
  context: OperationContext,
  result: HoldResult,
  known: CountedKey | undefined,
): Promise<unknown> | null {
  const { recorder } = context;
  if (recorder === null || recorder.isDurable) return null;
  if (result.kind !== "ended" || result.isRepeat) return null;
  const { hold, used, endedAt } = result;
  if (used.uses === 0) return null;
  const count = (key: CountedKey | null) => {
    if (key !== null) recorder.count(key, "EXTRA_USES", endedAt, used.uses);
  };
  if (known === undefined) return findKey(context, hold.keyId).then(count);
  count(known);
  return null;
}

/**
 * The subjects for which the step that ends a reservation counts its uses.
 *
 * @param look - Finds the reservation if this process did not make it.
 * @returns Nothing if it is not open.
 */
export async function countedBy(
  context: OperationContext,
  id: string,
  look: () => Promise<Hold | null>,
): Promise<readonly StatisticsSubject[] | undefined> {
  const known = context.reserved.get(id);
  if (known !== undefined) return subjectsOf(countedFor(known));
  const hold = await look();
  const key = hold && (await findKey(context, hold.keyId));
  return key === null ? undefined : subjectsOf(countedFor(key));
}

/** Null: it was deleted, while another of its rotation has its counters. */
async function findKey(context: OperationContext, keyId: string): Promise<CountedKey | null> {
  try {
    const { key, identity } = await getKeyById(context, keyId);
    return { key, identity, counts: null };
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}
