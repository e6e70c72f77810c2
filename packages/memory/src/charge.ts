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
import { type Counters, type Row, Workspace, type Workspaces } from "./workspace.js";

/** A clock that is set back by less reopens no window of a limit without an owner. */
const KEPT_AFTER_END_MS = 86_400_000;

/**
 * What is kept with a plan: where the records are that it confirms, and of which version. Few plans confirm more than a key and
 * its identity, so these lie in the memo itself: with many keys, a charge waits for each place of memory that it looks at.
 */
interface PlannedRows {
  readonly workspaces: Workspaces;
  readonly workspaceId: string;
  readonly confirms: readonly Expectation[];
  readonly workspace: Workspace;
  readonly count: number;
  readonly firstVersion: Expectation["version"];
  readonly secondVersion: Expectation["version"];
  first: Row | undefined;
  second: Row | undefined;
  /** Of the first row: what is known here need not wait for the row. */
  firstCounters: Counters | null;
}

/** Confirms a plan and moves what `applyCharge` says. It allocates little: a warm verification is one call. */
export function charge(all: Workspaces, plan: ChargePlan, moment: ChargeMoment): ChargeResult {
  const planned = plannedRows(all, plan);
  const { workspace } = planned;
  if (plan.revision !== null && plan.revision !== workspace.revision)
    return { kind: "stale", moved: "revision" };
  for (let place = 0; place < planned.count; place += 1)
    if (!isVersion(rowAt(planned, place), versionAt(planned, place)))
      return { kind: "stale", moved: place };
  const { limits, uses } = plan;
  const counters = uses === null ? null : countersAt(planned, uses);
  const usage = uses === null ? UNLIMITED_USES : (counters ?? NO_USES);
  const windows = windowsOf(planned, limits);
  const request = moment.request && requestName(planned, moment.request.id);
  const remembered = request === undefined ? null : workspace.requests.get(request);
  const { result, next } = applyCharge({ usage, windows, remembered }, plan, moment);
  if (next === null) return result;
  if (counters !== null && next.usage !== usage) counters.setUsage(next.usage);
  for (let place = 0; place < limits.length; place += 1) {
    const window = next.windows[place] ?? null;
    if (window !== null && window !== windows[place])
      setWindow(planned, limits[place] as LimitCharge, window, moment);
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
  const planned: PlannedRows = {
    workspaces,
    workspaceId,
    confirms,
    workspace: entryOf(workspaces, workspaceId, () => new Workspace()),
    count: confirms.length,
    firstVersion: confirms[0]?.version ?? null,
    secondVersion: confirms[1]?.version ?? null,
    first: undefined,
    second: undefined,
    firstCounters: null,
  };
  plan.memo = planned;
  return planned;
}

function versionAt(planned: PlannedRows, place: number): Expectation["version"] {
  if (place === 0) return planned.firstVersion;
  return place === 1 ? planned.secondVersion : (planned.confirms[place] as Expectation).version;
}

/** The row of a record that the plan confirms. One that was there may be deleted by now, and another written for the same id. */
function rowAt(planned: PlannedRows, place: number): Row | undefined {
  const known = place === 0 ? planned.first : place === 1 ? planned.second : undefined;
  if (known !== undefined && known.version !== null) return known;
  const { kind, id } = planned.confirms[place] as Expectation;
  const row = planned.workspace.row(kind, id);
  if (place === 0) {
    planned.first = row;
    planned.firstCounters = row?.counters ?? null;
  } else if (place === 1) planned.second = row;
  return row;
}

/** Counters of a record that the plan confirms, and that was found to be there. */
function countersAt(planned: PlannedRows, place: number): Counters | null {
  return place === 0 ? planned.firstCounters : (rowAt(planned, place)?.counters ?? null);
}

/** Null for a window that nothing was counted in, also where the record that would hold it does not exist. */
function windowsOf(planned: PlannedRows, limits: readonly LimitCharge[]): (RateWindow | null)[] {
  return limits.map(({ owner, window }) =>
    owner === null
      ? planned.workspace.windows.get(window)
      : (countersAt(planned, owner)?.window(window) ?? null),
  );
}

function setWindow(
  planned: PlannedRows,
  { owner, window: name, duration }: LimitCharge,
  window: RateWindow,
  { now }: ChargeMoment,
): void {
  if (owner !== null) countersAt(planned, owner)?.setWindow(name, window);
  else {
    const until = window.startedAt + duration + KEPT_AFTER_END_MS;
    planned.workspace.windows.set(name, window, until, now);
  }
}

/** A request is remembered beside the first record of a plan. Neither a kind nor an id holds a space. */
function requestName({ confirms: [first] }: PlannedRows, id: string): string {
  return `${first?.kind} ${first?.id} ${id}`;
}
