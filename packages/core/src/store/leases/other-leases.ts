import { isLease } from "../../rules/hold.js";
import type { Clock, SpanMs, Timer } from "../../time.js";
import type { RecordAddress } from "../change.js";
import type { ChargePlan } from "../charge.js";
import type { KeyStore } from "../key-store.js";
import type { HoldStep } from "../settle.js";

/** A process that has not given its units back for this long is dead, by the clock of the process that watches. */
export const DEAD_AFTER_MS: SpanMs = 600_000;

/** How often the leases of a record in use are checked. */
const LOOK_EVERY_MS: SpanMs = 10_000;

/** Most leases of one record that are checked, and most records that are remembered. */
const MOST_LEASES = 1_000;
const MOST_RECORDS = 10_000;

/** The leases seen of one record. */
interface Seen {
  readonly lookedAt: number;
  /** When each was first seen, by its id. */
  leases: ReadonlyMap<string, number>;
}

/** The records that have the holds of what a plan takes ahead: its key, and its identity if it takes units of that too. */
export function holdersOf({ confirms, uses, limits }: ChargePlan): readonly RecordAddress[] {
  const isShared = uses === 1 || limits.some(({ owner }) => owner === 1);
  return confirms.slice(0, isShared ? 2 : 1);
}

/** The name of one of the records that a plan confirms. */
export function nameOf({ workspaceId, confirms }: ChargePlan, place: number | null): string {
  const record = confirms[place ?? 0];
  return `${workspaceId} ${record?.kind} ${record?.id}`;
}

/** Ends the lease of a dead process: all of it counts as used. */
export function endOfLease(id: string): HoldStep {
  return { kind: "end", id, uses: null, limits: [], rest: true };
}

/**
 * Watches what other processes hold of the records that this one takes units of. No clock is compared with that of another process: the
 * process of a lease is dead once this process has seen the lease for longer than {@link DEAD_AFTER_MS}, by its own clock.
 */
export function createOtherLeases(
  store: Pick<KeyStore, "holds" | "settle">,
  now: Clock,
  steady: Timer,
  mostRecords: number = MOST_RECORDS,
) {
  const known = new Map<string, Seen>();

  /** Makes room. Records without leases go first, because a forgotten lease counts as new when it is seen again. */
  function forget(): void {
    for (const [name, { leases }] of known) if (leases.size === 0) known.delete(name);
    if (known.size > mostRecords / 2) known.clear();
  }

  return {
    /** How many leases there were at the last check. `name`: as {@link nameOf} returns it. */
    count: (name: string): number => known.get(name)?.leases.size ?? 0,

    /** Checks now and then, and ends the leases of dead processes: all that they held counts as used. */
    look(plan: ChargePlan, isOwn: (id: string) => boolean): void {
      const { workspaceId } = plan;
      const time = steady();
      for (const [place, record] of holdersOf(plan).entries()) {
        const name = nameOf(plan, place);
        const before = known.get(name);
        if (before && time - before.lookedAt < LOOK_EVERY_MS) continue;
        if (known.size >= mostRecords) forget();
        const seen: Seen = { lookedAt: time, leases: before?.leases ?? new Map() };
        known.set(name, seen);
        const end = async () => {
          const leases = new Map<string, number>();
          for (const hold of await store.holds(workspaceId, record, null, MOST_LEASES)) {
            if (!isLease(hold) || isOwn(hold.id)) continue;
            const since = seen.leases.get(hold.id) ?? time;
            leases.set(hold.id, since);
            if (time - since > DEAD_AFTER_MS)
              await store.settle(workspaceId, endOfLease(hold.id), { now: now(), revision: null });
          }
          seen.leases = leases;
        };
        // The next check tries again.
        end().catch(() => undefined);
      }
    },
  };
}
