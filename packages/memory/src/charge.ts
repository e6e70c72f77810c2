import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  deepFrozen,
  type LimitCharge,
  NO_USES,
  UNLIMITED_USES,
} from "@latchkey/core";
import { isVersion } from "./commit.js";
import type { Counters } from "./counters.js";
import { entryOf } from "./entry-of.js";
import { type Row, Workspace, type Workspaces } from "./workspace.js";

/** A clock that is set back by less reopens no window of a limit without an owner. */
const KEPT_AFTER_END_MS = 86_400_000;

/**
 * What is kept with a plan: the rows of all that it confirms, as it expects them. Few plans confirm more than a key and its
 * identity, so these lie in the memo itself: with many keys, a charge waits for each place of memory that it looks at.
 */
interface PlannedRows {
  readonly workspaces: Workspaces;
  readonly workspaceId: string;
  readonly workspace: Workspace;
  readonly confirms: ChargePlan["confirms"];
  readonly first: Row | undefined;
  readonly firstCounters: Counters | null;
  readonly second: Row | undefined;
  readonly others: readonly (Row | undefined)[];
}

/** Confirms a plan and moves what `applyCharge` says. It allocates little: a warm verification is one call. */
export function charge(all: Workspaces, plan: ChargePlan, moment: ChargeMoment): ChargeResult {
  const known = knownRows(all, plan);
  const workspace = known?.workspace ?? entryOf(all, plan.workspaceId, () => new Workspace());
  if (plan.revision !== null && plan.revision !== workspace.revision)
    return { kind: "stale", moved: "revision" };
  const planned = known ?? findRows(all, workspace, plan);
  if (typeof planned === "number") return { kind: "stale", moved: planned };
  const { limits, uses } = plan;
  const counters = uses === null ? null : countersAt(planned, uses);
  const usage = uses === null ? UNLIMITED_USES : (counters ?? NO_USES);
  const windows = limits.map(({ owner, window }) =>
    owner === null
      ? workspace.windows.get(window)
      : (countersAt(planned, owner)?.window(window) ?? null),
  );
  const request = moment.request && requestName(plan, moment.request.id);
  const remembered = request === undefined ? null : workspace.requests.get(request);
  const { result, next } = applyCharge({ usage, windows, remembered }, plan, moment);
  if (next === null) return result;
  if (next.usage !== usage) counters?.setUsage(next.usage);
  for (let place = 0; place < limits.length; place += 1) {
    const { owner, window: name, duration } = limits[place] as LimitCharge;
    const window = next.windows[place] ?? null;
    if (window === null || window === windows[place]) continue;
    if (owner !== null) countersAt(planned, owner)?.setWindow(name, window);
    else {
      const until = window.startedAt + duration + KEPT_AFTER_END_MS;
      workspace.windows.set(name, window, until, moment.now);
    }
  }
  if (request === undefined || next.remember === null) return result;
  // Frozen, since the same result is handed out again on each repeat.
  const charge = deepFrozen(next.remember);
  workspace.requests.set(request, charge, charge.until, moment.now);
  return result;
}

/** What was found before, if all of it is current. */
function knownRows(workspaces: Workspaces, plan: ChargePlan): PlannedRows | null {
  const memo = plan.memo as PlannedRows | undefined;
  // A copy of a plan brings the memo of the plan it was copied from, and a plan may meet another store.
  const isHere = memo?.workspaces === workspaces && memo.workspaceId === plan.workspaceId;
  if (!isHere || memo.confirms !== plan.confirms) return null;
  const { first, second, others } = memo;
  return isCurrent(first) && isCurrent(second) && others.every(isCurrent) ? memo : null;
}

/** Undefined for what is not there to be confirmed. */
function isCurrent(row: Row | undefined): boolean {
  return row === undefined || row.isCurrent;
}

/** The rows that a plan confirms, or the place of the first that is not as it expects. */
function findRows(
  workspaces: Workspaces,
  workspace: Workspace,
  plan: ChargePlan,
): PlannedRows | number {
  const { workspaceId, confirms } = plan;
  const rows = confirms.map(({ kind, id }) => workspace.row(kind, id));
  const stale = confirms.findIndex(({ version }, place) => !isVersion(rows[place], version));
  if (stale !== -1) return stale;
  const [first, second, ...others] = rows;
  const firstCounters = first?.counters ?? null;
  const planned = { workspaces, workspaceId, workspace, confirms, first, firstCounters };
  const found: PlannedRows = { ...planned, second, others };
  // A record that is expected not to exist has no row that would tell when it does: it is looked for each time.
  plan.memo = rows.includes(undefined) ? undefined : found;
  return found;
}

function countersAt(planned: PlannedRows, place: number): Counters | null {
  if (place === 0) return planned.firstCounters;
  return (place === 1 ? planned.second : planned.others[place - 2])?.counters ?? null;
}

/** A request is remembered beside the first record of a plan. Neither a kind nor an id holds a space. */
function requestName({ confirms: [first] }: ChargePlan, id: string): string {
  return `${first?.kind} ${first?.id} ${id}`;
}
