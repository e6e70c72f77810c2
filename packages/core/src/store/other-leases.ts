import { isLease } from "../rules/hold.js";
import type { Clock, SpanMs, Timer } from "../time.js";
import type { ChargePlan } from "./charge.js";
import type { KeyStore } from "./key-store.js";
import type { HoldStep } from "./settle.js";

/** A process that has not given its units back for so long is dead, by the clock of the one that watches. */
export const DEAD_AFTER_MS: SpanMs = 600_000;

/** How often it is looked, of a key that is in use. */
const LOOK_EVERY_MS: SpanMs = 10_000;

/** Most leases that are looked at of one key, and most keys that are remembered. */
const MOST_LEASES = 100;
const MOST_KEYS = 10_000;

/** What was seen of one key. */
interface Seen {
  readonly lookedAt: number;
  /** Since when each was there, by its id. */
  leases: ReadonlyMap<string, number>;
}

/** Whose units a plan takes: the name of its key. */
export function nameOf({ workspaceId, confirms: [key] }: ChargePlan): string {
  return `${workspaceId} ${key?.id}`;
}

/** Says that all of a lease was used, for a process that does not say it any more. */
export function endOfLease(id: string): HoldStep {
  return { kind: "end", id, uses: null, limits: [], rest: true };
}

/**
 * What other processes hold of the keys that this one takes units of. No clock is compared with that of another process: a lease is that
 * of a dead one if it has been there for as long by the clock of this one.
 */
export function createOtherLeases(
  store: Pick<KeyStore, "holds" | "settle">,
  now: Clock,
  steady: Timer,
) {
  const known = new Map<string, Seen>();
  return {
    /** How many there were when it was looked last. @param name - As {@link nameOf} says. */
    count: (name: string): number => known.get(name)?.leases.size ?? 0,

    /** Looks, now and then, and ends those of the dead: all that they held counts as used. */
    look(plan: ChargePlan, isOwn: (id: string) => boolean): void {
      const { workspaceId, confirms } = plan;
      const [key] = confirms;
      const name = nameOf(plan);
      const time = steady();
      const before = known.get(name);
      if (key === undefined || (before && time - before.lookedAt < LOOK_EVERY_MS)) return;
      if (known.size >= MOST_KEYS) known.clear();
      const seen: Seen = { lookedAt: time, leases: before?.leases ?? new Map() };
      known.set(name, seen);
      const end = async () => {
        const leases = new Map<string, number>();
        for (const hold of await store.holds(workspaceId, key, null, MOST_LEASES)) {
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
    },
  };
}
