import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type Expectation,
  type LimitCharge,
  NO_USES,
  type RateWindow,
  UNLIMITED_USES,
} from "@latchkey/core";
import { isVersion } from "./commit.js";
import { entryOf } from "./entry-of.js";
import { deepFrozen } from "./frozen.js";
import {
  newWorkspace,
  type Row,
  type WindowHolder,
  type Workspace,
  type Workspaces,
} from "./workspace.js";

/** A clock that is set back by less reopens no window of a limit without an owner. */
const KEPT_AFTER_END_MS = 86_400_000;

/**
 * What is kept with a plan: where the records are that it confirms. Nearly all plans confirm a key, and its identity if it has
 * one, so these two lie in the memo itself: a warm verification waits for each place of memory that it has to look at.
 */
interface PlannedRows {
  readonly workspaces: Workspaces;
  readonly workspaceId: string;
  readonly confirms: readonly Expectation[];
  readonly workspace: Workspace;
  first: Row | undefined;
  second: Row | undefined;
  readonly others: (Row | undefined)[];
}

/** Confirms a plan and moves what `applyCharge` says. */
export function charge(
  workspaces: Workspaces,
  plan: ChargePlan,
  moment: ChargeMoment,
): ChargeResult {
  const planned = plannedRows(workspaces, plan);
  const { workspace } = planned;
  if (plan.revision !== null && plan.revision !== workspace.revision)
    return { kind: "stale", moved: "revision" };
  const { confirms, limits } = plan;
  for (let place = 0; place < confirms.length; place += 1) {
    const expectation = confirms[place] as Expectation;
    if (!isVersion(currentRow(planned, place, expectation), expectation.version))
      return { kind: "stale", moved: place };
  }
  const counters = plan.uses === null ? null : (rowAt(planned, plan.uses)?.counters ?? null);
  const usage = plan.uses === null ? UNLIMITED_USES : (counters?.usage ?? NO_USES);
  const windows = limits.length === 0 ? NO_WINDOWS : windowsOf(planned, limits);
  const request = moment.request && nameOf(plan, moment.request.id);
  const remembered = request === undefined ? null : workspace.requests.get(request);
  const { result, next } = applyCharge({ usage, windows, remembered }, plan, moment);
  if (next === null) return result;
  if (counters !== null) counters.usage = next.usage;
  for (let place = 0; place < limits.length; place += 1) {
    const window = next.windows[place] ?? null;
    if (window === null || window === windows[place]) continue;
    const { owner, window: name, duration } = limits[place] as LimitCharge;
    const until = window.startedAt + duration + KEPT_AFTER_END_MS;
    holderOf(planned, owner)?.set(name, window, until, moment.now);
  }
  if (request === undefined || next.remember === null) return result;
  // Frozen, since the same result is handed out again on each repeat.
  const charge = deepFrozen(next.remember);
  workspace.requests.set(request, charge, charge.until, moment.now);
  return result;
}

const NO_WINDOWS: readonly (RateWindow | null)[] = [];

function windowsOf(
  planned: PlannedRows,
  limits: readonly LimitCharge[],
): readonly (RateWindow | null)[] {
  const windows: (RateWindow | null)[] = [];
  for (const { owner, window } of limits)
    windows.push(holderOf(planned, owner)?.get(window) ?? null);
  return windows;
}

function plannedRows(workspaces: Workspaces, plan: ChargePlan): PlannedRows {
  const { workspaceId, confirms } = plan;
  const memo = plan.memo as PlannedRows | undefined;
  // A copy of a plan brings the memo of the plan it was copied from, and a plan may meet another store.
  if (
    memo?.workspaces === workspaces &&
    memo.workspaceId === workspaceId &&
    memo.confirms === confirms
  )
    return memo;
  const workspace = entryOf(workspaces, workspaceId, newWorkspace);
  const planned: PlannedRows = {
    workspaces,
    workspaceId,
    confirms,
    workspace,
    first: undefined,
    second: undefined,
    others: [],
  };
  plan.memo = planned;
  return planned;
}

function rowAt({ first, second, others }: PlannedRows, place: number): Row | undefined {
  return place === 0 ? first : place === 1 ? second : others[place - 2];
}

/** The row at a place. One that was there may have been deleted since, and another written for the same id. */
function currentRow(
  planned: PlannedRows,
  place: number,
  { kind, id }: Expectation,
): Row | undefined {
  const known = rowAt(planned, place);
  if (known !== undefined && known.record !== null) return known;
  const row = planned.workspace.row(kind, id);
  if (place === 0) planned.first = row;
  else if (place === 1) planned.second = row;
  else planned.others[place - 2] = row;
  return row;
}

/** Null: the record that would hold the window does not exist. */
function holderOf(planned: PlannedRows, owner: LimitCharge["owner"]): WindowHolder | null {
  return owner === null ? planned.workspace.windows : (rowAt(planned, owner)?.counters ?? null);
}

/** Beside the first record of the plan. Neither a kind nor an id holds a space. */
function nameOf({ confirms: [first] }: ChargePlan, requestId: string): string {
  return first === undefined ? requestId : `${first.kind} ${first.id} ${requestId}`;
}
