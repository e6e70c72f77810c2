import { isLease } from "../../rules/hold.js";
import type { Clock, SpanMs, Timer } from "../../time.js";
import type { RecordAddress } from "../change.js";
import type { ChargePlan } from "../charge.js";
import type { KeyStore } from "../key-store.js";
import type { HoldStep } from "../settle.js";

/** A process that has not given its units back for so long is dead, by the clock of the one that watches. */
export const DEAD_AFTER_MS: SpanMs = 600_000;

/** How often it is looked, of a record that is in use. */
const LOOK_EVERY_MS: SpanMs = 10_000;

/** Most leases that are looked at of one record, and most records that are remembered. */
const MOST_LEASES = 1_000;
const MOST_RECORDS = 10_000;

/** What was seen of one record. */
interface Seen {
  readonly lookedAt: number;
  /** Since when each was there, by its id. */
  leases: ReadonlyMap<string, number>;
}

/** The records beside which a plan holds what it takes ahead: its key, and its identity if it takes units of that as well. */
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
 * What other processes hold of the records that this one takes units of. No clock is compared with that of another process: a lease is that
 * of a dead one if it has been there for as long by the clock of this one.
 */
export function createOtherLeases(
  store: Pick<KeyStore, "holds" | "settle">,
  now: Clock,
  steady: Timer,
  mostRecords: number = MOST_RECORDS,
) {
  const known = new Map<string, Seen>();

  /** Makes room: first of what says nothing, for a lease that is forgotten is taken for a new one when it is seen again. */
  function forget(): void {
    for (const [name, { leases }] of known) if (leases.size === 0) known.delete(name);
    if (known.size > mostRecords / 2) known.clear();
  }

  return {
    /** How many there were when it was looked last. `name`: as {@link nameOf} says. */
    count: (name: string): number => known.get(name)?.leases.size ?? 0,

    /** Looks, now and then, and ends those of the dead: all that they held counts as used. */
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
        // It is looked again.
        end().catch(() => undefined);
      }
    },
  };
}
