import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type ChargeWrite,
  NO_USES,
  type RateWindow,
  UNLIMITED_USES,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { moveCounters, withWindow } from "./engine/counters.js";
import type { KeptCounters, KeptRecord } from "./engine/memo.js";
import { NO_NUMBER } from "./engine/names.js";
import { addressOf, KIND_CODE } from "./engine/statements.js";
import { findRequest, findWindow, pass, requestName } from "./passing.js";
import { keepRecord, wholeOr } from "./stored-record.js";

/** What a plan rests on. It is kept with the plan. */
interface Basis {
  readonly connection: Connection;
  /** A copy of a plan may bring the basis of the plan that it was copied from. */
  readonly plan: ChargePlan;
  readonly workspace: number;
  /** In which all that the plan confirms was found to hold. */
  readonly generation: number;
  /** In the order of what the plan confirms; null where there is none. */
  readonly records: readonly (KeptRecord | null)[];
}

type Windows = readonly (RateWindow | null)[];
type Stale = Extract<ChargeResult, { kind: "stale" }>;

/** Where a row of `statements.ts` that confirms a record has the revision. */
const REVISION_AT = 7;

/** Answers a plan that writes nothing, without the write lock; null where {@link take} is needed. */
export function look(connection: Connection, plan: ChargePlan, moment: ChargeMoment) {
  const isPassing = moment.request !== undefined || plan.limits.some(({ owner }) => owner === null);
  if (isPassing && plan.mode === "commit") return null;
  const kept = isPassing ? null : keptBasis(connection, plan);
  const likely = kept === null ? null : decide(kept, moment).step;
  // Whether or not it is still as stored: the transaction will tell.
  if (likely !== null && likely.next !== null) return null;
  const generation = connection.memo.confirm();
  if (likely !== null && kept?.generation === generation) return likely.result;
  return connection.snapshot(() => {
    const basis = readBasis(connection, plan, generation);
    if ("kind" in basis) return basis;
    const { result, next } = decide(basis, moment).step;
    return next === null ? result : null;
  });
}

/** Carries a plan out. Call it inside a write transaction. */
export function take(connection: Connection, plan: ChargePlan, moment: ChargeMoment): ChargeResult {
  const { generation } = connection.memo;
  let basis: Basis | Stale | null = keptBasis(connection, plan);
  if (basis?.generation !== generation) basis = readBasis(connection, plan, generation, true);
  if ("kind" in basis) return basis;
  const { step, windows } = decide(basis, moment);
  if (step.next !== null) store(basis, moment, windows, step.next);
  return step.result;
}

/** As last known, of whatever generation; null where that is not all. */
function keptBasis(connection: Connection, plan: ChargePlan): Basis | null {
  const known = plan.memo as Basis | undefined;
  if (known?.connection === connection && known.plan === plan) return known;
  // A new plan, perhaps on records that were read a moment ago.
  const { names, memo } = connection;
  const { generation } = memo;
  const workspace = names.workspace(plan.workspaceId);
  if (workspace === NO_NUMBER) return null;
  const records: KeptRecord[] = [];
  for (const { handle, kind, id } of plan.confirms) {
    const kept = memo.records.get(handle);
    if (kept?.generation !== generation || kept.workspace !== workspace) return null;
    if (kept.kind !== KIND_CODE[kind] || kept.id !== id) return null;
    records.push(kept);
  }
  const revision = records[0]?.revision ?? null;
  const basis = confirm({ connection, plan, workspace, generation, records }, revision);
  return "kind" in basis ? null : basis;
}

/** Reads what a plan rests on, and keeps it with the generation given. */
function readBasis(
  connection: Connection,
  plan: ChargePlan,
  generation: number,
  isWriting = false,
) {
  const { names, memo, run } = connection;
  const workspace = names.workspace(plan.workspaceId, isWriting);
  const records = plan.confirms.map((confirmed) => {
    const address = addressOf(workspace, confirmed);
    // Its number finds it faster; by now that may be another's.
    const seq = typeof confirmed.handle === "number" ? confirmed.handle : null;
    const row = run.confirmBySeq.get(seq, ...address) ?? run.confirm.get(...address);
    return row ? keepRecord(memo, row, 0, address, row[REVISION_AT], generation) : null;
  });
  const revision =
    records.find((record) => record !== null)?.revision ??
    wholeOr(0, run.workspace.get(plan.workspaceId)?.[1]);
  return confirm({ connection, plan, workspace, generation, records }, revision);
}

/** Whether all that a plan confirms holds: the revision is compared first, then each record. */
function confirm(basis: Basis, revision: number | null): Basis | Stale {
  const { plan, records } = basis;
  if (plan.revision !== null && plan.revision !== revision)
    return { kind: "stale", moved: "revision" };
  const moved = plan.confirms.findIndex(({ version }, place) => {
    const record = records[place] ?? null;
    if (record === null) return version !== null;
    return version !== "exists" && version !== record.version;
  });
  if (moved !== -1) return { kind: "stale", moved };
  plan.memo = basis;
  return basis;
}

/** The step of a charge, and the windows that it was decided on. */
function decide({ connection, plan, workspace, records }: Basis, moment: ChargeMoment) {
  const { uses, limits } = plan;
  const usage = uses === null ? UNLIMITED_USES : (records[uses]?.counters?.usage ?? NO_USES);
  const windows = limits.map(({ owner, window }) => {
    if (owner === null) return findWindow(connection, workspace, window);
    return records[owner]?.counters?.windows.find(({ name }) => name === window)?.window ?? null;
  });
  const request = requestName(plan, moment);
  const remembered = request === null ? null : findRequest(connection, workspace, request);
  const step = applyCharge({ usage, windows, remembered }, plan, moment);
  return { windows, step };
}

function store(basis: Basis, moment: ChargeMoment, before: Windows, next: ChargeWrite): void {
  const { connection, plan, workspace, records } = basis;
  const moved = new Set<KeptCounters>();
  const used = plan.uses === null ? null : records[plan.uses]?.counters;
  if (used && used.usage !== next.usage) moved.add(Object.assign(used, { usage: next.usage }));
  for (const [index, { owner, window: name, duration }] of plan.limits.entries()) {
    const window = next.windows[index] ?? null;
    if (window === null || window === before[index]) continue;
    const own = owner === null ? null : records[owner]?.counters;
    if (own) moved.add(Object.assign(own, { windows: withWindow(own.windows, name, window) }));
    if (owner === null)
      pass(connection, workspace, name, window.startedAt + duration, window, moment.now);
  }
  for (const counters of moved) moveCounters(connection, counters.seq, counters);
  const request = requestName(plan, moment);
  if (next.remember !== null && request !== null)
    pass(connection, workspace, request, next.remember.until, next.remember, moment.now);
}
