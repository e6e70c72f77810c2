import { type Clocks, isLeaseAlive, type LeaseSettings } from "../rules/lease.js";
import type { Clock, Timer } from "../time.js";
import type { AvailableStore } from "./availability.js";
import type { AppliedCharge, ChargeMoment, ChargePlan } from "./charge.js";
import type { Charging } from "./held-leases.js";
import type { SettledCharge, SettledStore } from "./settled-store.js";
import { createUnitsAhead } from "./units-ahead.js";

/** The result of a charge that was decided without asking the store: it takes nothing that is counted. */
export const LEASED: AppliedCharge = Object.freeze({
  kind: "charged",
  remaining: null,
  limits: Object.freeze([]),
  leased: true,
});

/**
 * A store that for a while confirms by itself what the underlying store confirmed a moment ago. That is correct because no change made
 * meanwhile resolves before that while is over. It takes units ahead from uses, and from limits of the key and its identity
 * other than concurrent and shadow limits; for everything else that is counted, it asks the underlying store.
 *
 * @see packages/core/decisions/0051-leases-end-before-a-change-resolves.md
 */
export function createLeasedStore(
  store: SettledStore,
  available: Pick<AvailableStore, "leases" | "changeLeases">,
  settings: LeaseSettings,
  now: Clock,
  steady: Timer,
  newLeaseId: () => string,
): SettledStore {
  const { ms } = settings;
  const ahead = createUnitsAhead(store, settings, now, steady, newLeaseId);
  const leases = new WeakMap<ChargePlan, Clocks>();
  /** Plans without limits whose uses are limited. */
  const counting = new WeakSet<ChargePlan>();
  const announcing = new Set<string>();
  /** Workspaces whose leases were ended while this process was running. */
  const ended = new Set<string>();
  /** Workspaces in which this process has seen that leases may be given. */
  const begun = new Set<string>();

  /** Announces leases before this process takes the first one. */
  function announce({ workspaceId, confirms: [key] }: ChargePlan): void {
    if (announcing.has(workspaceId) || ended.has(workspaceId)) return;
    announcing.add(workspaceId);
    const raise = (before = 0) => Math.max(before, ms);
    available
      .changeLeases(
        workspaceId,
        (before) => ({ grant: raise(before?.grant), wait: raise(before?.wait) }),
        // A workspace that is deleted meanwhile must leave nothing behind.
        key && { kind: key.kind, id: key.id },
      )
      // The next verification tries again.
      .catch(() => undefined)
      .finally(() => announcing.delete(workspaceId));
  }

  /** Whether this process may lease what a plan confirms. Other processes must know of leases first. */
  function isLeasing(plan: ChargePlan): boolean {
    const { workspaceId, revision } = plan;
    const known = available.leases(workspaceId);
    if (known === undefined || known.revision !== revision) return false;
    const { grant } = known.leases ?? { grant: 0 };
    if (grant > 0) begun.add(workspaceId);
    // Ended leases are in the store as 0. If it has none, it has lost the announcement in a failover.
    else if (known.leases !== null && begun.has(workspaceId)) ended.add(workspaceId);
    if (grant < ms) announce(plan);
    return grant >= ms;
  }

  function keep(plan: ChargePlan, since: Clocks, result: SettledCharge): SettledCharge {
    if (result.kind !== "charged") return result;
    if (result.remaining !== null) counting.add(plan);
    else if (isLeasing(plan)) leases.set(plan, since);
    return result;
  }

  function chargeCounted(plan: ChargePlan, moment: ChargeMoment): Charging {
    const result = isTakenAhead(plan)
      ? ahead.charge(plan, moment, isLeasing(plan))
      : ahead.chargeBeside(plan, moment);
    if (plan.limits.length > 0) return result;
    // The uses of the same plan may be unlimited by now.
    const look = (known: SettledCharge) => {
      if ("remaining" in known && known.remaining === null) counting.delete(plan);
      return known;
    };
    return "then" in result ? result.then(look) : look(result);
  }

  return {
    ...store,
    charge(plan, moment) {
      if (!isLeasable(plan, moment)) return ahead.chargeBeside(plan, moment);
      if (plan.limits.length > 0 || counting.has(plan)) return chargeCounted(plan, moment);
      const clocks = { steady: steady(), wall: moment.now };
      const since = leases.get(plan);
      if (since !== undefined && isLeaseAlive(since, clocks, ms)) return LEASED;
      const result = store.charge(plan, moment);
      if (!("then" in result)) return keep(plan, clocks, result);
      return result.then((known) => keep(plan, clocks, known));
    },
    async close() {
      await ahead.giveAllBack();
      await store.close();
    },
  };
}

/** Whether a lease may decide a plan: it commits, at a revision, and has no request, no counts and no hold of its own. */
function isLeasable(
  { mode, revision, hold, counts }: ChargePlan,
  { request }: ChargeMoment,
): boolean {
  return (
    mode === "commit" &&
    revision !== null &&
    hold === undefined &&
    counts === undefined &&
    request === undefined
  );
}

/** Whether a plan takes uses and units of limits of its key and identity, and neither slots nor units of shadow limits. */
function isTakenAhead({ cost, limits }: ChargePlan): boolean {
  if (cost === 0) return false;
  for (const { algorithm, owner, shadow, cost: units } of limits)
    if (algorithm === "concurrent" || owner === null || shadow || units === 0) return false;
  return true;
}
