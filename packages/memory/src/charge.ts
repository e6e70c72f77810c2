import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type ChargeState,
  countedByCharge,
  deepFrozen,
  endsAt,
  isVersion,
  KEPT_AFTER_END_MS,
  type LimitCharge,
  NO_USES,
  UNLIMITED_USES,
} from "@latchkey/core";
import { entryOf } from "./entry-of.js";
import type { Row } from "./row.js";
import { Workspace, type Workspaces } from "./workspace.js";

/**
 * The rows that a plan confirms, cached in `plan.memo` once they match its expectations. The first two are fields and not elements of an
 * array: with many keys, each memory access costs a charge a wait.
 */
interface PlannedRows {
  readonly workspaces: Workspaces;
  readonly workspaceId: string;
  readonly workspace: Workspace;
  readonly confirms: ChargePlan["confirms"];
  readonly first: Row | undefined;
  readonly second: Row | undefined;
  readonly others: readonly (Row | undefined)[];
}

/** Like {@link charge}, and adds what the plan counts to the statistics. */
export function chargeCounted(
  all: Workspaces,
  plan: ChargePlan,
  moment: ChargeMoment,
): ChargeResult {
  const result = charge(all, plan, moment);
  const counted = countedByCharge(plan, moment, result);
  if (counted !== null)
    entryOf(all, plan.workspaceId, () => new Workspace()).addStatistics(counted);
  return result;
}

/** Confirms a plan and applies what `applyCharge` decides. It allocates little: a warm verification is one call. */
export function charge(all: Workspaces, plan: ChargePlan, moment: ChargeMoment): ChargeResult {
  const { confirms, limits, uses } = plan;
  const known = knownRows(all, plan);
  const planned = known ?? findRows(all, plan);
  const { workspace } = planned;
  if (moment.ends !== undefined)
    workspace.settle(moment.ends, { now: moment.now, revision: plan.revision });
  if (plan.revision !== null && plan.revision !== workspace.revision)
    return { kind: "stale", moved: "revision" };
  if (known === null) {
    const moved = confirms.findIndex(
      ({ version }, at) => !isVersion(rowAt(planned, at)?.version ?? null, version),
    );
    if (moved !== -1) return { kind: "stale", moved };
    // A record that is expected not to exist is looked up each time.
    plan.memo = confirms.some(({ version }) => version === null) ? undefined : planned;
  }
  const usage = uses === null ? UNLIMITED_USES : (rowAt(planned, uses)?.counters ?? NO_USES);
  const windows = limits.map(({ owner, window }) => holderOf(planned, owner)?.get(window) ?? null);
  // A request is remembered beside the first record. Neither a kind nor an id contains a space.
  const [first] = confirms;
  const request = moment.request && `${first?.kind} ${first?.id} ${moment.request.id}`;
  const remembered = request === undefined ? null : workspace.requests.get(request);
  const holds = holdsBeside(planned);
  const { result, next } = applyCharge({ usage, windows, remembered, holds }, plan, moment);
  if (next === null) return result;
  if (uses !== null && next.usage !== usage) rowAt(planned, uses)?.counters?.setUsage(next.usage);
  for (let index = 0; index < limits.length; index += 1) {
    const limit = limits[index] as LimitCharge;
    const window = next.windows[index] ?? null;
    if (window === null || window === windows[index]) continue;
    const until = limit.owner === null ? endsAt(window, limit) + KEPT_AFTER_END_MS : 0;
    holderOf(planned, limit.owner)?.set(limit.window, window, until, moment.now);
  }
  if (next.held !== undefined) {
    const beside = next.held.sums.map((_, place) => rowAt(planned, place)?.counters ?? null);
    for (const hold of next.held.holds) workspace.holds.set({ hold, counters: beside });
    for (const [place, counters] of beside.entries())
      if (counters !== null) counters.holds = next.held.sums[place];
  }
  if (request === undefined || next.remember === null) return result;
  // Frozen, because the same result is returned again on each repeat.
  const charge = deepFrozen(next.remember);
  workspace.requests.set(request, charge, charge.until, moment.now);
  return result;
}

/** The totals of holds beside each confirmed record; undefined if there are no holds, as is usual. */
function holdsBeside(planned: PlannedRows): ChargeState["holds"] {
  const { first, second, others, confirms } = planned;
  const isHeld = (row: Row | undefined) => row?.counters?.holds !== undefined;
  if (!isHeld(first) && !isHeld(second) && !others.some(isHeld)) return undefined;
  return confirms.map((_, place) => rowAt(planned, place)?.counters?.holds);
}

/** The cached rows of a plan if all of them are current; otherwise null. */
function knownRows(workspaces: Workspaces, plan: ChargePlan): PlannedRows | null {
  const memo = plan.memo as PlannedRows | undefined;
  // A copied plan carries the memo of the original, and a plan may be used on another store.
  const isHere = memo?.workspaces === workspaces && memo.workspaceId === plan.workspaceId;
  if (!isHere || memo.confirms !== plan.confirms || memo.workspace.isForgotten) return null;
  const { first, second, others } = memo;
  if (first?.isCurrent === false || second?.isCurrent === false) return null;
  return others.every((row) => row?.isCurrent) ? memo : null;
}

function findRows(workspaces: Workspaces, { workspaceId, confirms }: ChargePlan): PlannedRows {
  // If the workspace does not exist, neither does the record: the charge is stale, and must not create the workspace.
  const isStale = confirms.some(({ version }) => version !== null);
  const workspace = isStale
    ? (workspaces.get(workspaceId) ?? new Workspace())
    : entryOf(workspaces, workspaceId, () => new Workspace());
  const rows = confirms.map(({ kind, id }) => workspace.row(kind, id));
  const [first, second, ...others] = rows;
  return { workspaces, workspaceId, workspace, confirms, first, second, others };
}

function rowAt({ first, second, others }: PlannedRows, index: number): Row | undefined {
  if (index === 0) return first;
  return index === 1 ? second : others[index - 2];
}

function holderOf(planned: PlannedRows, owner: LimitCharge["owner"]) {
  return owner === null ? planned.workspace.windows : rowAt(planned, owner)?.counters;
}
