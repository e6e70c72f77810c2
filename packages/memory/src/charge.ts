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
import { type Row, Workspace, type Workspaces } from "./workspace.js";

/** A clock that is set back by less reopens no window of a limit without an owner. */
const KEPT_AFTER_END_MS = 86_400_000;

/** What is kept with a plan: where the records are that it confirms. */
interface PlannedRows {
  readonly workspaces: Workspaces;
  readonly workspaceId: string;
  readonly confirms: readonly Expectation[];
  readonly workspace: Workspace;
  readonly rows: (Row | undefined)[];
}

/** Confirms a plan and moves what `applyCharge` says. It allocates little: a warm verification is one call. */
export function charge(all: Workspaces, plan: ChargePlan, moment: ChargeMoment): ChargeResult {
  const planned = rowsOf(all, plan);
  const { workspace, rows } = planned;
  if (plan.revision !== null && plan.revision !== workspace.revision)
    return { kind: "stale", moved: "revision" };
  const { confirms, limits } = plan;
  for (let place = 0; place < confirms.length; place += 1) {
    const { kind, id, version } = confirms[place] as Expectation;
    // A row that was there may have been deleted since, and another made for the same id.
    if ((rows[place]?.version ?? -1) === -1) rows[place] = workspace.row(kind, id);
    if (!isVersion(rows[place], version)) return { kind: "stale", moved: place };
  }
  const counters = plan.uses === null ? null : (rows[plan.uses]?.counters ?? null);
  const usage = plan.uses === null ? UNLIMITED_USES : (counters?.usage ?? NO_USES);
  const windows: (RateWindow | null)[] = [];
  for (const { owner, window } of limits)
    windows.push(holderOf(planned, owner)?.get(window) ?? null);
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

function rowsOf(workspaces: Workspaces, plan: ChargePlan): PlannedRows {
  const { workspaceId, confirms } = plan;
  const memo = plan.memo as PlannedRows | undefined;
  // A copy of a plan brings the memo of the plan it was copied from, and a plan may meet another store.
  if (memo?.workspaces === workspaces && memo.workspaceId === workspaceId && memo.confirms === confirms) return memo;
  const workspace = entryOf(workspaces, workspaceId, () => new Workspace());
  const planned = { workspaces, workspaceId, confirms, workspace, rows: [] };
  plan.memo = planned;
  return planned;
}

/** Null: the record that would hold the window does not exist. */
function holderOf({ workspace, rows }: PlannedRows, owner: LimitCharge["owner"]) {
  return owner === null ? workspace.windows : (rows[owner]?.counters ?? null);
}

/** Beside the first record of the plan. Neither a kind nor an id holds a space. */
function nameOf({ confirms: [first] }: ChargePlan, requestId: string): string {
  return first === undefined ? requestId : `${first.kind} ${first.id} ${requestId}`;
}
