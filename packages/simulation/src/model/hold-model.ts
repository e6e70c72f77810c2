import {
  type AppliedCharge,
  type ChargeMoment,
  type ChargePlan,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
  isLease,
  type LimitCharge,
  type UsedUnits,
} from "@latchkey/core";
import { isOwed, type ModelCounter, raisedBy, recount } from "./counter-model.js";
import { endLeaseOf, giveBackUnits, type ModelTaking, type ModelWindow } from "./limit-model.js";

/** Held units of one limit. */
export interface ModelHeld {
  readonly name: string;
  readonly isSlot: boolean;
  /** As it was when they were taken. */
  readonly limit: LimitCharge;
  readonly units: number;
  /** The window that they were taken from, and the map that has it under its name, unless it was emptied since. */
  readonly windows: Map<string, ModelWindow> | undefined;
  readonly window: string;
  readonly stored: ModelWindow | undefined;
  /** Undefined: nothing was taken, because a shadow limit had no room. */
  readonly taking: ModelTaking | undefined;
}

/** A hold in the model. */
export interface ModelHold {
  readonly id: string;
  readonly ttl: number;
  expiresAt: number;
  readonly uses: number;
  /** Index in `beside` of the counter that its uses come from; null: none. */
  readonly usesOf: number | null;
  /** How many of these uses count as taken: all while it is held, then those that were used. */
  taken: number;
  /** Whether the uses have been set since. */
  isVoid: boolean;
  /** The counters that it is kept beside; null: deleted since. */
  beside: readonly (ModelCounter | null)[];
  limits: readonly ModelHeld[];
}

/** The holds that a charge makes. */
export function holdsOf(
  { hold: held, limits, cost, uses }: ChargePlan,
  { now, holdId = "" }: ChargeMoment,
  beside: readonly (ModelCounter | null)[],
  windows: readonly (Map<string, ModelWindow> | undefined)[],
  { limits: readings }: AppliedCharge,
): readonly ModelHold[] {
  if (held === undefined) return [];
  const { keeps, ttl, slotTtl, most } = held;
  const units = limits.flatMap((limit, place) => {
    const { name, algorithm, cost, window } = limit;
    const stored = windows[place]?.get(window);
    const isSlot = algorithm === "concurrent";
    const taking = readings[place]?.exceeded ? undefined : stored?.takings.at(-1);
    const held = { units: taking?.units ?? 0, windows: windows[place], window, stored, taking };
    return cost === 0 ? [] : [{ name, isSlot, limit, ...held }];
  });
  const make = (id: string, span: number, own: number, isOfSlots: boolean): ModelHold => ({
    id,
    ttl: span,
    // Leases never end by themselves.
    expiresAt: Math.min(now + span, 8.64e15),
    uses: own,
    usesOf: uses !== null && beside[uses]?.remaining !== null ? uses : null,
    taken: own,
    isVoid: false,
    beside: beside.slice(0, most.length),
    limits: units.filter(({ isSlot }) => isSlot === isOfSlots),
  });
  const all = keeps === "all" ? [make(holdId, ttl, cost, false)] : [];
  if (slotTtl === null) return all;
  const slots = make(keeps === "all" ? `${holdId}.s` : holdId, Math.min(ttl, slotTtl), 0, true);
  return [...all, slots];
}

const UNUSED: UsedUnits = { uses: 0, limits: [] };

/** The parts of a result that are compared with the model's. */
export function toldOf(result: HoldResult): unknown {
  const { kind } = result;
  if (kind === "ended") return [kind, result.isRepeat, result.used, result.usage];
  if (kind === "renewed") return [kind, result.hold.expiresAt];
  if (kind === "refreshed") return [kind, result.expired.map(({ id }) => id)];
  return kind === "expired" ? [kind, result.hold !== null] : [kind];
}

/** The parts of a workspace that holds need. */
export interface HoldingWorkspace {
  readonly revision: number;
  readonly holds: Map<string, ModelHold>;
  readonly windows: Map<string, ModelWindow>;
  get(kind: string, id: string): { readonly counter: ModelCounter | null } | undefined;
}

/** Whether held uses may still come back to a counter. */
export function hasHeldUses({ holds }: HoldingWorkspace, counter: ModelCounter | null): boolean {
  return [...holds.values()].some(
    ({ isVoid, uses, usesOf, beside }) =>
      !isVoid && uses > 0 && usesOf !== null && counter !== null && beside[usesOf] === counter,
  );
}

/** Whether a hold on a counter has expired. */
export function hasOver({ holds }: HoldingWorkspace, counter: ModelCounter, now: number): boolean {
  return [...holds.values()].some(
    ({ beside, expiresAt }) => expiresAt <= now && beside.includes(counter),
  );
}

function endOver(
  workspace: HoldingWorkspace,
  counters: readonly ModelCounter[],
  now: number,
): unknown {
  const over = [...workspace.holds.values()]
    .filter(
      ({ beside, expiresAt }) => expiresAt <= now && counters.some((one) => beside.includes(one)),
    )
    .sort((one, other) => one.expiresAt - other.expiresAt || (one.id < other.id ? -1 : 1));
  for (const hold of over) giveBack(workspace, hold, UNUSED);
  return ["refreshed", over.map(({ id }) => id)];
}

/** Applies a step and returns its expected result, in the form of {@link toldOf}; undefined: the model does not predict it. */
export function settleHold(
  workspace: HoldingWorkspace,
  step: Exclude<HoldStep, { readonly kind: "restore" }>,
  { now, revision }: HoldMoment,
): unknown {
  if (revision !== null && revision !== workspace.revision) return ["stale"];
  if (step.kind === "refresh") {
    const counter = workspace.get(step.of.kind, step.of.id)?.counter ?? null;
    if (counter === null) return ["refreshed", []];
    const ended = endOver(workspace, [counter], now);
    const { refill } = step;
    if (refill !== null && isOwed(counter, refill)) {
      counter.steps.push(raisedBy(refill));
      Object.assign(counter, { refilledAt: refill.dueAt, lastRefillAt: refill.dueAt });
      recount(counter);
    }
    return ended;
  }
  const hold = workspace.holds.get(step.id);
  // The laws check the answers about ended holds.
  if (hold === undefined || (hold.beside[0] === null && !isLease(hold))) return undefined;
  const slots = workspace.holds.get(`${hold.id}.s`);
  const areOver = slots !== undefined && slots.expiresAt <= now && step.kind === "renew";
  if (slots !== undefined && (areOver || hold.expiresAt <= now)) giveBack(workspace, slots, UNUSED);
  if (hold.expiresAt <= now) {
    giveBack(workspace, hold, UNUSED);
    return ["expired", true];
  }
  if (step.kind === "renew") {
    for (const each of [hold, ...(slots === undefined || areOver ? [] : [slots])]) {
      const spans = each.limits.flatMap(({ isSlot, limit }) => (isSlot ? [limit.duration] : []));
      each.expiresAt = now + (step.ttl === null ? each.ttl : Math.min(step.ttl, ...spans));
    }
    return ["renewed", hold.expiresAt];
  }
  const used = usedOf(hold, step);
  if (used === null) return ["unnamed"];
  const isOver = used.limits.some((units, place) => units > (hold.limits[place]?.units ?? 0));
  if (used.uses > hold.uses || isOver) return ["over"];
  const counters = hold.beside.filter((counter) => counter !== null);
  if (!isLease(hold) && counters.some((counter) => hasOver(workspace, counter, now)))
    return endOver(workspace, counters, now);
  if (slots !== undefined) giveBack(workspace, slots, UNUSED);
  giveBack(workspace, hold, used, now);
  const owner = hold.usesOf === null ? null : hold.beside[hold.usesOf];
  const { remaining = null, refilledAt, lastRefillAt } = owner ?? {};
  const usage = remaining === null ? null : { remaining, refilledAt, lastRefillAt };
  return ["ended", false, used, usage];
}

function usedOf(
  { uses, limits }: ModelHold,
  { uses: spent, limits: named, rest }: Extract<HoldStep, { readonly kind: "end" }>,
): UsedUnits | null {
  const isOf = (name: string) => limits.some((held) => !held.isSlot && held.name === name);
  if (!named.every(({ name }) => isOf(name))) return null;
  return {
    uses: spent ?? uses,
    limits: limits.map(({ name, isSlot, units }) => {
      const cost = named.find((one) => one.name === name)?.cost ?? (rest ? units : 0);
      return isSlot || units === 0 ? 0 : cost;
    }),
  };
}

function giveBack(
  workspace: HoldingWorkspace,
  hold: ModelHold,
  used: UsedUnits,
  now = hold.expiresAt,
): void {
  workspace.holds.delete(hold.id);
  for (const [place, { windows, window, stored, taking, limit }] of hold.limits.entries()) {
    if (taking === undefined || stored === undefined || windows?.get(window) !== stored) continue;
    const units = used.limits[place] ?? 0;
    if (isLease(hold) && limit.algorithm === "token-bucket")
      endLeaseOf(stored, taking, units, limit, now);
    else giveBackUnits(stored, taking, units, limit.duration, now);
  }
  // Later steps are recounted, as if only the used units had been taken.
  hold.taken = used.uses;
  const owner = hold.usesOf === null ? null : hold.beside[hold.usesOf];
  if (owner) recount(owner);
}
