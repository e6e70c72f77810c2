import {
  allHolds,
  type EpochMs,
  endOfLease,
  type Hold,
  isLease,
  type KeyStore,
  type LoadedRecord,
} from "@latchkey/core";
import { plural } from "../command-line/words.js";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, mendable } from "./finding.js";

/** Twice the longest lease: a live process has returned its units by then. */
const OLD_AFTER_MS = 20_000;

/** The leases on the counters of a record, in ascending order of id. */
export async function leasesBeside(
  store: KeyStore,
  workspaceId: string,
  { record: { kind, id }, usage }: LoadedRecord,
): Promise<readonly Hold[]> {
  if (usage?.holds === undefined) return [];
  return (await allHolds(store, workspaceId, { kind, id })).filter(isLease);
}

/** Whether a lease seems to belong to a process that died or was stopped. */
export function seemsDead({ createdAt }: Hold, now: EpochMs): boolean {
  return createdAt + OLD_AFTER_MS <= now;
}

/** Uses that a lease holds. */
export function heldUses({ uses, usesOf }: Hold): number {
  return usesOf === null ? 0 : uses;
}

/**
 * Looks for units that a process leased and never returned, because it was killed or stopped. With `--fix` they count as used.
 */
export async function* checkLeases(
  { latchkey, store, fix }: DoctorContext,
  records: readonly LoadedRecord[],
): AsyncIterable<Finding> {
  const { workspaceId } = latchkey;
  const now = latchkey.now();
  for (const loaded of records) {
    const leases = await leasesBeside(store, workspaceId, loaded);
    const old = leases.filter((lease) => seemsDead(lease, now));
    if (old.length === 0) continue;
    const { kind, id } = loaded.record;
    const place = kind === "key" ? 0 : 1;
    const uses = old.reduce((sum, each) => sum + (each.usesOf === place ? each.uses : 0), 0);
    const what = `${kind} ${id}: ${plural(old.length, "lease")} of processes that died or are stopped, with ${plural(uses, "use")}`;
    yield await mendable("leases", what, fix, async () => {
      for (const lease of old)
        await store.settle(workspaceId, endOfLease(lease.id), { now, revision: null });
    });
  }
}
