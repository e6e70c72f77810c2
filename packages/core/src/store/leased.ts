import { type Clocks, isLeaseAlive } from "../rules/lease.js";
import type { SpanMs, Timer } from "../time.js";
import type { AvailableStore } from "./availability.js";
import type { AppliedCharge, ChargeMoment, ChargePlan } from "./charge.js";
import type { SettledCharge, SettledStore } from "./settled.js";

/** What a charge comes to that the store was not asked about: it takes nothing that is counted. */
export const LEASED: AppliedCharge = Object.freeze({
  kind: "charged",
  remaining: null,
  limits: Object.freeze([]),
});

/**
 * A store that confirms by itself, for a while, what the store confirmed a moment ago. That is right because nothing that was changed
 * meanwhile has resolved before that while is over.
 *
 * Only for plans that take nothing: of uses and limits the store must know.
 *
 * @param ms - The length of a lease.
 * @param steady - A clock that nobody sets.
 * @see packages/core/decisions/0051-leases-end-before-a-change-resolves.md
 */
export function createLeasedStore(
  store: SettledStore,
  available: Pick<AvailableStore, "leases" | "changeLeases">,
  ms: SpanMs,
  steady: Timer,
): SettledStore {
  const leases = new WeakMap<ChargePlan, Clocks>();
  const announcing = new Set<string>();
  /** Workspaces in which leases were ended while this process was there. */
  const ended = new Set<string>();
  /** Workspaces in which this process has seen that leases may be given. */
  const begun = new Set<string>();

  /** Says that there are going to be leases, before there is one. */
  function announce({ workspaceId, confirms: [key] }: ChargePlan): void {
    if (announcing.has(workspaceId) || ended.has(workspaceId)) return;
    announcing.add(workspaceId);
    const raise = (before = 0) => Math.max(before, ms);
    available
      .changeLeases(
        workspaceId,
        (before) => ({ grant: raise(before?.grant), wait: raise(before?.wait) }),
        // Of a workspace that is deleted meanwhile nothing must be left.
        key && { kind: key.kind, id: key.id },
      )
      // The next verification tries again.
      .catch(() => undefined)
      .finally(() => announcing.delete(workspaceId));
  }

  function keep(plan: ChargePlan, since: Clocks, result: SettledCharge): SettledCharge {
    if (result.kind !== "charged" || result.remaining !== null) return result;
    const { workspaceId, revision } = plan;
    const known = available.leases(workspaceId);
    if (known === undefined || known.revision !== revision) return result;
    const { grant } = known.leases ?? { grant: 0 };
    if (grant > 0) begun.add(workspaceId);
    else if (begun.has(workspaceId)) ended.add(workspaceId);
    if (grant >= ms) leases.set(plan, since);
    else announce(plan);
    return result;
  }

  return {
    ...store,
    charge(plan, moment) {
      if (!isLeasable(plan, moment)) return store.charge(plan, moment);
      const clocks = { steady: steady(), wall: moment.now };
      const since = leases.get(plan);
      if (since !== undefined && isLeaseAlive(since, clocks, ms)) return LEASED;
      const result = store.charge(plan, moment);
      if (!("then" in result)) return keep(plan, clocks, result);
      return result.then((known) => keep(plan, clocks, known));
    },
  };
}

/** Whether a plan takes nothing of limits, and is neither remembered nor a look. */
function isLeasable(
  { mode, revision, limits, hold }: ChargePlan,
  { request }: ChargeMoment,
): boolean {
  return (
    mode === "commit" &&
    revision !== null &&
    limits.length === 0 &&
    hold === undefined &&
    request === undefined
  );
}
