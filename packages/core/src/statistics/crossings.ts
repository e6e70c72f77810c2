import { mostOf } from "../rules/limit-algorithm.js";
import type { LimitFigures } from "../rules/limit-state.js";
import {
  lowUses,
  type NoticePeriod,
  type NoticeSettings,
  nearUnits,
  periodOfLimit,
} from "../rules/notice.js";
import type { RecordAddress } from "../store/change.js";
import type { AppliedCharge, ChargePlan, LimitCharge, LimitReading } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { CachedKey } from "../verification/key-cache.js";

/** Most crossings that wait to be written. */
const MAX_CROSSINGS = 10_000;

/** A line that a charge of this process crossed. */
export type Crossing = {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly identityId: string | null;
  /** The owner of the uses or the limit: the key or its identity. */
  readonly of: RecordAddress;
} & (
  | { readonly type: "uses.low" | "uses.gone" }
  | {
      readonly type: "limit.near";
      readonly limit: LimitFigures & { readonly name: string };
      readonly remaining: number;
      readonly resetAt: EpochMs;
      /** The id of the counters and the name of the window in them: keys of a rotation share both. */
      readonly window: string;
      readonly period: NoticePeriod;
    }
);

export type Crossings = ReturnType<typeof createCrossings>;

/**
 * Crossings of uses and limits that one process saw and has not written yet, at most {@link MAX_CROSSINGS}. Beyond that, a workspace that has
 * more than its share loses its earliest: one for which nobody writes them must not keep out the others.
 *
 * @see packages/core/decisions/0050-crossed-lines-are-seen-by-the-charge.md
 */
export function createCrossings(settings: NoticeSettings) {
  /** By workspace and by a name, so that a crossing seen twice is written once. */
  const seen = new Map<string, Map<string, Crossing>>();
  let size = 0;

  function add(crossing: Crossing): void {
    const { workspaceId } = crossing;
    const name = nameOf(crossing);
    const isKnown = seen.get(workspaceId)?.has(name) === true;
    if (!isKnown && size >= MAX_CROSSINGS) makeRoom(workspaceId);
    // Making room may have removed the workspace.
    const own = seen.get(workspaceId) ?? new Map<string, Crossing>();
    seen.set(workspaceId, own.set(name, crossing));
    if (!isKnown) size += 1;
  }

  /** The workspace that loses a crossing if another one needs room: that one, if it has its share or more, otherwise the first that has. */
  function loserFor(workspaceId: string): string {
    const share = size / seen.size;
    const hasShare = (id: string) => (seen.get(id)?.size ?? 0) >= share;
    if (hasShare(workspaceId)) return workspaceId;
    for (const id of seen.keys()) if (hasShare(id)) return id;
    return workspaceId;
  }

  function makeRoom(workspaceId: string): void {
    const from = loserFor(workspaceId);
    const earliest = seen.get(from)?.keys().next().value;
    if (earliest !== undefined) drop(from, earliest);
  }

  function drop(workspaceId: string, name: string): void {
    const own = seen.get(workspaceId);
    if (own?.delete(name) !== true) return;
    size -= 1;
    if (own.size === 0) seen.delete(workspaceId);
  }

  function lookAtUses(cached: CachedKey, plan: ChargePlan, remaining: number, ahead: number): void {
    const low = lowUses(settings, cached.refill);
    const isLow = remaining - ahead < low && remaining + plan.cost >= low;
    if (!isLow && remaining > 0) return;
    const about = { ...aboutOf(cached), of: plan.confirms[plan.uses ?? 0] as RecordAddress };
    if (isLow) add({ type: "uses.low", ...about });
    if (remaining === 0) add({ type: "uses.gone", ...about });
  }

  function lookAtLimit(
    cached: CachedKey,
    { confirms }: ChargePlan,
    limit: LimitCharge,
    { remaining, resetAt, state }: LimitReading,
  ): void {
    const { key } = cached;
    const about = aboutOf(cached);
    const of = confirms[limit.owner ?? 0] as RecordAddress;
    const counters = of.kind === "key" ? (key.sharedCountersId ?? key.id) : of.id;
    const window = `${counters} ${limit.window}`;
    const period = periodOfLimit(limit, state.at);
    add({ type: "limit.near", ...about, of, limit, remaining, resetAt, window, period });
  }

  return {
    /** Checks whether a charge has crossed a line, with what it took ahead: others may use up to a line, and this process return the rest. */
    look(
      cached: CachedKey,
      plan: ChargePlan,
      { remaining, limits, ahead = 0 }: AppliedCharge,
    ): void {
      if (remaining !== null && plan.cost > 0)
        lookAtUses(cached, plan, remaining, ahead * plan.cost);
      for (let index = 0; index < limits.length; index += 1) {
        const limit = plan.limits[index];
        const reading = limits[index] as LimitReading;
        // A repeated request returns the limits of its first charge.
        if (limit === undefined || limit.name !== reading.name) continue;
        const taken = mostOf(limit) - reading.remaining;
        const near = nearUnits(settings, limit);
        const isOver = taken + ahead * limit.cost > near;
        if (isOver && taken - limit.cost <= near && !limit.shadow && limit.cost > 0)
          lookAtLimit(cached, plan, limit, reading);
      }
    },
    workspaceIds: () => [...seen.keys()],
    take(workspaceId: string): readonly Crossing[] {
      const own = [...(seen.get(workspaceId)?.values() ?? [])];
      seen.delete(workspaceId);
      size -= own.length;
      return own;
    },
    /** Takes back crossings that were not written. */
    giveBack(crossings: readonly Crossing[]): void {
      for (const crossing of crossings) add(crossing);
    },
    /** Drops limits whose windows have ended, in all workspaces. */
    dropEnded(now: EpochMs): void {
      for (const [workspaceId, own] of seen)
        for (const [name, crossing] of own)
          if ("period" in crossing && crossing.period.endAt <= now) drop(workspaceId, name);
    },
  };
}

function aboutOf({ key, identity }: CachedKey) {
  return {
    workspaceId: key.workspaceId,
    keyId: key.id,
    identityId: identity === null ? null : identity.id,
  };
}

function nameOf(crossing: Crossing): string {
  const { type, of } = crossing;
  const beginning = `${type} ${of.id}`;
  if (type !== "limit.near") return beginning;
  return `${beginning} ${crossing.window} ${crossing.period.startAt}`;
}
