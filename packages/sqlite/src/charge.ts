import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type ChargeStep,
  type ChargeWrite,
  type LimitCharge,
  NO_USES,
  type RateWindow,
  UNLIMITED_USES,
} from "@latchkey/core";
import { Counters } from "./counters.js";
import type { Connection } from "./engine/connection.js";
import { prepareQuery, type Row, type SqliteStatement } from "./engine/database.js";
import type { KeptCounters, KeptRecord } from "./engine/memo.js";
import { findWindow, withWindow } from "./engine/stored-counters.js";
import { Passing } from "./passing.js";
import { bindPlan, PASSING, type PlanMemo, type Stale } from "./plan-memo.js";
import { revisionOf } from "./read.js";
import { KIND_CODE, keptColumns, keptCounters, keptRecord } from "./stored-record.js";

const CONFIRMED = `SELECT ${keptColumns("r", "c")}, w.revision
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters`;
const REVISION_AT = 7;

export const CHARGE_SQL = {
  bySeq: `${CONFIRMED} WHERE r.seq = ? AND r.workspace = ? AND r.kind = ? AND r.id = ?`,
  byId: `${CONFIRMED} WHERE r.workspace = ? AND r.kind = ? AND r.id = ?`,
  revision: "SELECT revision FROM latchkey_workspace WHERE seq = ?",
} as const;

/** A step with what it was decided on. It holds while that is as stored. */
interface Decision {
  readonly memo: PlanMemo;
  /** As the memo lists them. */
  readonly counters: readonly KeptCounters[];
  /** In the order of the plan's limits. */
  readonly windows: readonly (RateWindow | null)[];
  readonly step: ChargeStep;
}

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export class Charging {
  readonly #connection: Connection;
  readonly #bySeq: SqliteStatement;
  readonly #byId: SqliteStatement;
  readonly #revision: SqliteStatement;
  readonly #counters: Counters;
  readonly #passing: Passing;

  constructor(connection: Connection) {
    const { database } = connection;
    this.#connection = connection;
    this.#bySeq = prepareQuery(database, CHARGE_SQL.bySeq);
    this.#byId = prepareQuery(database, CHARGE_SQL.byId);
    this.#revision = prepareQuery(database, CHARGE_SQL.revision);
    this.#counters = new Counters(database);
    this.#passing = new Passing(database);
  }

  /**
   * Answers a plan that writes nothing, without the write lock. For every other one it answers what carries the plan out, as
   * {@link take} does, and sooner where nothing has changed until then.
   */
  look(plan: ChargePlan, moment: ChargeMoment): ChargeResult | (() => ChargeResult) {
    const isBeside =
      moment.request !== undefined || plan.limits.some(({ owner }) => owner === null);
    if (isBeside && plan.mode === "commit") return () => this.take(plan, moment);
    const likely = isBeside ? null : this.#decideOnKept(plan, moment);
    // Whether or not it is still as stored: the transaction will tell.
    if (likely !== null && likely.step.next !== null) return () => this.take(plan, moment, likely);
    const generation = this.#connection.memo.ask();
    if (likely !== null && isOf(likely, generation)) return likely.step.result;
    const read = () => this.#decide(plan, moment, generation);
    // One statement is a snapshot of its own.
    const isOneStatement = plan.confirms.length === 1 && !isBeside;
    const decision = isOneStatement ? read() : this.#connection.snapshot(read);
    if (!("step" in decision)) return decision;
    const { step } = decision;
    return step.next === null ? step.result : () => this.take(plan, moment, decision);
  }

  /** Carries a plan out. Call it inside a write transaction in which the memo was confirmed. */
  take(plan: ChargePlan, moment: ChargeMoment, draft: Decision | null = null): ChargeResult {
    const { generation } = this.#connection.memo;
    if (draft !== null && isOf(draft, generation) && this.#isLatest(draft))
      return this.#store(draft, moment);
    const kept = this.#decideOnKept(plan, moment);
    if (kept !== null && isOf(kept, generation)) return this.#store(kept, moment);
    const decision = this.#decide(plan, moment, generation);
    return "step" in decision ? this.#store(decision, moment) : decision;
  }

  /** Decides on what is kept, as old as it may be; null where not all of it is. */
  #decideOnKept(plan: ChargePlan, moment: ChargeMoment): Decision | null {
    const known = plan.memo as PlanMemo | undefined;
    const isOurs = known?.connection === this.#connection && known.plan === plan;
    const memo = isOurs ? known : this.#bindToKept(plan);
    if (memo === null || "kind" in memo) return null;
    const counters: KeptCounters[] = [];
    for (const seq of memo.counters) {
      const kept = this.#connection.memo.counters.get(seq);
      if (kept === undefined) return null;
      counters.push(kept);
    }
    return this.#decideOn(memo, moment, counters);
  }

  /** A new plan, on records that were read a moment ago. */
  #bindToKept(plan: ChargePlan): PlanMemo | Stale | null {
    const { names, memo } = this.#connection;
    const workspace = names.workspace(plan.workspaceId);
    const records: KeptRecord[] = [];
    for (const { handle, kind, id } of plan.confirms) {
      const kept = typeof handle === "number" ? memo.records.get(handle) : undefined;
      if (kept?.workspace !== workspace || kept.kind !== KIND_CODE[kind] || kept.id !== id)
        return null;
      if (kept.generation !== memo.generation) return null;
      records.push(kept);
    }
    const [first] = records;
    if (first === undefined) return null;
    const { revision, generation } = first;
    return bindPlan(this.#connection, plan, workspace, records, revision, generation);
  }

  /** Reads what a plan rests on, keeps it with the generation given, and decides. */
  #decide(plan: ChargePlan, moment: ChargeMoment, generation: number): Decision | Stale {
    const { names, memo } = this.#connection;
    const workspace = names.workspace(plan.workspaceId);
    let revision: number | null = null;
    const records = plan.confirms.map(({ kind, id, handle }) => {
      const row = this.#find(workspace, KIND_CODE[kind], id, handle);
      if (row === undefined) return null;
      const address = { workspace, kind: KIND_CODE[kind], id };
      const record = keptRecord(row, 0, address, row[REVISION_AT], generation);
      memo.keep(record, keptCounters(row, 0, generation));
      revision = record.revision;
      return record;
    });
    revision ??= revisionOf(this.#revision.get(workspace) as Row | undefined);
    const bound = bindPlan(this.#connection, plan, workspace, records, revision, generation);
    if ("kind" in bound) return bound;
    const counters = bound.counters.map((seq) => memo.counters.get(seq) as KeptCounters);
    return this.#decideOn(bound, moment, counters);
  }

  /** @param handle - The number of the record as it was, by which it is found faster. It may be another's by now. */
  #find(workspace: number, kind: number, id: string, handle: unknown): Row | undefined {
    const found =
      typeof handle === "number" ? this.#bySeq.get(handle, workspace, kind, id) : undefined;
    return (found ?? this.#byId.get(workspace, kind, id)) as Row | undefined;
  }

  #decideOn(memo: PlanMemo, moment: ChargeMoment, counters: readonly KeptCounters[]): Decision {
    const { plan, workspace, uses, owners } = memo;
    const counted = counters[uses]?.usage ?? NO_USES;
    const usage = plan.uses === null ? UNLIMITED_USES : counted;
    const windows = owners.map((owner, index) => {
      const { window } = plan.limits[index] as LimitCharge;
      if (owner === PASSING) return this.#passing.window(workspace, window);
      return findWindow(counters[owner]?.windows ?? [], window);
    });
    const [beside] = plan.confirms;
    const { request } = moment;
    const isRemembered = request !== undefined && beside !== undefined;
    const remembered = isRemembered ? this.#passing.request(workspace, beside, request.id) : null;
    const step = applyCharge({ usage, windows, remembered }, plan, moment);
    return { memo, counters, windows, step };
  }

  #store({ memo, counters, windows, step }: Decision, moment: ChargeMoment): ChargeResult {
    const { next, result } = step;
    if (next === null) return result;
    const { plan, workspace } = memo;
    for (const [place, seq] of memo.counters.entries()) {
      const before = counters[place] as KeptCounters;
      const after = chargedCounters(memo, place, before, windows, next);
      if (after.usage === before.usage && after.windows === before.windows) continue;
      this.#counters.move(seq, after);
      this.#connection.memo.counters.set(seq, after);
    }
    for (const [index, limit] of plan.limits.entries()) {
      const window = next.windows[index] ?? null;
      if (limit.owner === null && window !== null && window !== windows[index])
        this.#passing.setWindow(workspace, limit, window, moment.now);
    }
    const [beside] = plan.confirms;
    if (next.remember !== null && moment.request !== undefined && beside !== undefined)
      this.#passing.setRequest(workspace, beside, moment.request.id, next.remember, moment.now);
    return result;
  }

  /** Whether nothing was charged since to what a decision rests on. */
  #isLatest({ memo, counters }: Decision): boolean {
    const kept = this.#connection.memo.counters;
    return memo.counters.every((seq, place) => kept.get(seq) === counters[place]);
  }
}

/** Whether all that a decision rests on belongs to a generation. */
function isOf({ memo, counters }: Decision, generation: number): boolean {
  if (memo.generation !== generation) return false;
  return counters.every((kept) => kept.generation === generation);
}

/** One set of the counters of a plan as a charge leaves it. */
function chargedCounters(
  { plan, uses, owners }: PlanMemo,
  place: number,
  { usage, windows, generation }: KeptCounters,
  before: Decision["windows"],
  next: ChargeWrite,
): KeptCounters {
  let after = windows;
  for (let index = 0; index < owners.length; index += 1) {
    const window = next.windows[index] ?? null;
    if (owners[index] !== place || window === null || window === before[index]) continue;
    after = withWindow(after, (plan.limits[index] as LimitCharge).window, window);
  }
  return { usage: uses === place ? next.usage : usage, windows: after, generation };
}
