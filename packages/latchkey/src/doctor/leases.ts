import { endOfLease, isLease, type LoadedRecord } from "@latchkey/core";
import { plural } from "../command-line/words.js";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, mendable } from "./finding.js";

/** Twice the longest lease: a process that goes on has given its units back by then. */
const OLD_AFTER_MS = 20_000;

/** Looks for units that a process took ahead and never gave back: it was killed, or is stopped. With `--fix` they count as used. */
export async function* checkLeases(
  { latchkey, store, fix }: DoctorContext,
  records: readonly LoadedRecord[],
): AsyncIterable<Finding> {
  const { workspaceId } = latchkey;
  const now = latchkey.now();
  for (const { record, usage } of records) {
    if (usage?.holds === undefined) continue;
    const { kind, id } = record;
    const holds = await store.holds(workspaceId, { kind, id }, null, 1_000);
    const old = holds.filter((hold) => isLease(hold) && hold.createdAt + OLD_AFTER_MS <= now);
    if (old.length === 0) continue;
    const uses = old.reduce((sum, hold) => sum + (hold.usesOf === null ? 0 : hold.uses), 0);
    const what = `${kind} ${id}: ${plural(old.length, "lease")} of processes that died or are stopped, with ${plural(uses, "use")}`;
    yield await mendable("leases", what, fix, async () => {
      for (const hold of old)
        await store.settle(workspaceId, endOfLease(hold.id), { now, revision: null });
    });
  }
}
