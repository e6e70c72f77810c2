import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type Expectation,
  type LimitCharge,
  NO_USES,
  UNLIMITED_USES,
} from "@latchkey/core";
import { isVersion } from "./commit.js";
import { entryOf } from "./entry-of.js";
import { deepFrozen } from "./frozen.js";
import { type Row, Workspace, type Workspaces } from "./workspace.js";

/** A clock that is set back by less reopens no window of a limit without an owner. */
const KEPT_AFTER_END_MS = 86_400_000;

/** What is kept with a plan: where the records are that it confirms. Few plans confirm more than a key and its identity. */
interface PlannedRows {
  readonly workspaces: Workspaces;
  readonly workspaceId: string;
  readonly confirms: readonly Expectation[];
  readonly workspace: Workspace;
  /** In the memo itself: with many keys, a charge waits for each place of memory that it looks at. */
  first: Row | undefined;
  second: Row | undefined;
}

/** Confirms a plan and moves what `applyCharge` says. It allocates little: a warm verification is one call. */
export function charge(all: Workspaces, plan: ChargePlan, moment: ChargeMoment): ChargeResult {
  const planned = plannedRows(all, plan);
  const { workspace } = planned;
  if (plan.revision !== null && plan.revision !== workspace.revision)
    return { kind: "stale", moved: "revision" };
  const { confirms, limits, uses } = plan;
  for (let place = 0; place < confirms.length; place += 1) {
    const { version } = confirms[place] as Expectation;
    if (!isVersion(rowAt(planned, place), version)) return { kind: "stale", moved: place };
  }
  const counters = uses === null ? null : (rowAt(planned, uses)?.counters ?? null);
  const usage = uses === null ? UNLIMITED_USES : (counters?.usage ?? NO_USES);
  const windows = limits.map(({ owner, window }) => holderOf(planned, owner)?.get(window) ?? null);
  // Beside the first record of the plan. Neither a kind nor an id holds a space.
  const [first] = confirms;
  const request = moment.request && `${first?.kind} ${first?.id} ${moment.request.id}`;
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

function plannedRows(workspaces: Workspaces, plan: ChargePlan): PlannedRows {
  const { workspaceId, confirms } = plan;
  const memo = plan.memo as PlannedRows | undefined;
  // A copy of a plan brings the memo of the plan it was copied from, and a plan may meet another store.
  const isHere = memo?.workspaces === workspaces && memo.workspaceId === workspaceId;
  if (isHere && memo.confirms === confirms) return memo;
  const workspace = entryOf(workspaces, workspaceId, () => new Workspace());
  const rows: Pick<PlannedRows, "first" | "second"> = { first: undefined, second: undefined };
  const planned = { workspaces, workspaceId, confirms, workspace, ...rows };
  plan.memo = planned;
  return planned;
}

/** The row of a record that the plan confirms. One that was there may be deleted by now, and another written for the same id. */
function rowAt(planned: PlannedRows, place: number): Row | undefined {
  const known = place === 0 ? planned.first : place === 1 ? planned.second : undefined;
  if (known !== undefined && known.version !== null) return known;
  const { kind, id } = planned.confirms[place] as Expectation;
  const row = planned.workspace.row(kind, id);
  if (place === 0) planned.first = row;
  else if (place === 1) planned.second = row;
  return row;
}

/** Null: the record that would hold the window does not exist. */
function holderOf(planned: PlannedRows, owner: LimitCharge["owner"]) {
  return owner === null ? planned.workspace.windows : (rowAt(planned, owner)?.counters ?? null);
}
