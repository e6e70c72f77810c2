import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type ChargeStep,
  NO_USES,
  type RateWindow,
  UNLIMITED_USES,
} from "@latchkey/core";
import { Counters } from "./counters.js";
import type { Connection } from "./engine/connection.js";
import { prepareAll } from "./engine/database.js";
import type { KeptCounters, KeptRecord } from "./engine/memo.js";
import { NO_NUMBER } from "./engine/names.js";
import { findWindow, withWindow } from "./engine/stored-counters.js";
import { Passing, requestName } from "./passing.js";
import { KEPT, KIND_CODE, keepRecord, wholeOr0 } from "./stored-record.js";

const CONFIRMED = `SELECT ${KEPT}, w.revision
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters WHERE`;
const REVISION_AT = 7;

export const CHARGE_SQL = {
  bySeq: `${CONFIRMED} r.seq = ? AND r.workspace = ? AND r.kind = ? AND r.id = ?`,
  byId: `${CONFIRMED} r.workspace = ? AND r.kind = ? AND r.id = ?`,
  revision: "SELECT revision FROM latchkey_workspace WHERE seq = ?",
} as const;

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

/** A step with what it was decided on. It holds while that is as stored. */
interface Decision {
  readonly basis: Basis;
  /** Those that the plan takes from, each once. */
  readonly counters: readonly KeptCounters[];
  /** In the order of the plan's limits. */
  readonly windows: readonly (RateWindow | null)[];
  readonly step: ChargeStep;
}

type Stale = Extract<ChargeResult, { kind: "stale" }>;

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export class Charging {
  readonly #connection: Connection;
  readonly #counters: Counters;
  readonly #passing: Passing;
  readonly #run;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#counters = new Counters(connection.database);
    this.#passing = new Passing(connection.database);
    this.#run = prepareAll(connection.database, CHARGE_SQL);
  }

  /** Answers a plan that writes nothing, without the write lock; for another one, what carries it out as {@link take} does. */
  look(plan: ChargePlan, moment: ChargeMoment): ChargeResult | (() => ChargeResult) {
    const isPassing =
      moment.request !== undefined || plan.limits.some(({ owner }) => owner === null);
    if (isPassing && plan.mode === "commit") return () => this.take(plan, moment);
    const likely = isPassing ? null : this.#decideOnKept(plan, moment);
    // Whether or not it is still as stored: the transaction will tell.
    if (likely !== null && likely.step.next !== null) return () => this.take(plan, moment, likely);
    const generation = this.#connection.memo.ask();
    if (likely !== null && isOf(likely, generation)) return likely.step.result;
    const read = () => this.#readAndDecide(plan, moment, generation, false);
    // One statement is a snapshot of its own.
    const isOneStatement = plan.confirms.length === 1 && !isPassing;
    const decision = isOneStatement ? read() : this.#connection.snapshot(read);
    if ("kind" in decision) return decision;
    const { step } = decision;
    return step.next === null ? step.result : () => this.take(plan, moment, decision);
  }

  /** Carries a plan out. Call it inside a write transaction in which the memo was confirmed. */
  take(plan: ChargePlan, moment: ChargeMoment, draft: Decision | null = null): ChargeResult {
    const { generation, counters } = this.#connection.memo;
    let decision: Decision | Stale | null = draft;
    for (const kept of draft?.counters ?? []) if (counters.get(kept.seq) !== kept) decision = null;
    decision ??= this.#decideOnKept(plan, moment);
    if (decision === null || !isOf(decision, generation))
      decision = this.#readAndDecide(plan, moment, generation, true);
    return "kind" in decision ? decision : this.#store(decision, moment);
  }

  /** Decides on what is kept, as old as it may be; null where not all of it is. */
  #decideOnKept(plan: ChargePlan, moment: ChargeMoment): Decision | null {
    const known = plan.memo as Basis | undefined;
    if (known?.connection === this.#connection && known.plan === plan)
      return this.#decide(known, moment);
    // A new plan, perhaps on records that were read a moment ago.
    const { names, memo } = this.#connection;
    const workspace = names.workspace(plan.workspaceId);
    if (workspace === NO_NUMBER) return null;
    const records: KeptRecord[] = [];
    for (const { handle, kind, id } of plan.confirms) {
      const kept = typeof handle === "number" ? memo.records.get(handle) : undefined;
      if (kept?.generation !== memo.generation || kept.workspace !== workspace) return null;
      if (kept.kind !== KIND_CODE[kind] || kept.id !== id) return null;
      records.push(kept);
    }
    const revision = records[0]?.revision ?? null;
    const basis = this.#confirm(plan, workspace, records, revision, memo.generation);
    return "kind" in basis ? null : this.#decide(basis, moment);
  }

  /** Reads what a plan rests on, keeps it with the generation given, and decides. */
  #readAndDecide(
    plan: ChargePlan,
    moment: ChargeMoment,
    generation: number,
    isWriting: boolean,
  ): Decision | Stale {
    const { names, memo } = this.#connection;
    const workspace = names.workspace(plan.workspaceId, isWriting);
    let revision: number | null = null;
    const records = plan.confirms.map(({ kind, id, handle }) => {
      const address = [workspace, KIND_CODE[kind], id] as const;
      // Its number finds it faster; by now that may be another's.
      const seq = typeof handle === "number" ? handle : null;
      const row = this.#run.bySeq.get(seq, ...address) ?? this.#run.byId.get(...address);
      if (row === undefined) return null;
      const record = keepRecord(memo, row, 0, address, row[REVISION_AT], generation);
      revision = record.revision;
      return record;
    });
    revision ??= wholeOr0(this.#run.revision.get(workspace)?.[0]);
    const basis = this.#confirm(plan, workspace, records, revision, generation);
    return "kind" in basis ? basis : (this.#decide(basis, moment) as Decision);
  }

  /** The basis of a plan, where all that it confirms holds: the revision is compared first, then each record. */
  #confirm(
    plan: ChargePlan,
    workspace: number,
    records: readonly (KeptRecord | null)[],
    revision: number | null,
    generation: number,
  ): Basis | Stale {
    if (plan.revision !== null && plan.revision !== revision)
      return { kind: "stale", moved: "revision" };
    const moved = plan.confirms.findIndex(({ version }, place) => {
      const record = records[place] ?? null;
      if (version === null || record === null) return version !== null || record !== null;
      return version !== "exists" && version !== record.version;
    });
    if (moved !== -1) return { kind: "stale", moved };
    const basis = { connection: this.#connection, plan, workspace, records, generation };
    plan.memo = basis;
    return basis;
  }

  /** Null where not all counters are kept. */
  #decide(basis: Basis, moment: ChargeMoment): Decision | null {
    const { plan, workspace, records } = basis;
    const counters: KeptCounters[] = [];
    const windows: (RateWindow | null)[] = [];
    let usage = plan.uses === null ? UNLIMITED_USES : NO_USES;
    if (plan.uses !== null) {
      const own = this.#countersOf(records[plan.uses], counters);
      if (own === null) return null;
      if (own !== undefined) ({ usage } = own);
    }
    for (const { owner, window } of plan.limits) {
      if (owner === null) windows.push(this.#passing.window(workspace, window));
      else {
        const own = this.#countersOf(records[owner], counters);
        if (own === null) return null;
        windows.push(own === undefined ? null : findWindow(own.windows, window));
      }
    }
    const request = nameOf(plan, moment);
    const remembered = request === null ? null : this.#passing.request(workspace, request);
    const step = applyCharge({ usage, windows, remembered }, plan, moment);
    return { basis, counters, windows, step };
  }

  /** The counters of a record, which are noted: undefined where it has none, null where they are not kept. */
  #countersOf(record: KeptRecord | null | undefined, noted: KeptCounters[]) {
    const seq = record?.counters ?? null;
    if (seq === null) return undefined;
    const kept = this.#connection.memo.counters.get(seq) ?? null;
    if (kept !== null && !noted.includes(kept)) noted.push(kept);
    return kept;
  }

  #store({ basis, counters, windows, step }: Decision, moment: ChargeMoment): ChargeResult {
    const { next, result } = step;
    if (next === null) return result;
    const { plan, workspace, records } = basis;
    const moved = [...counters];
    const move = (owner: number, change: (before: KeptCounters) => KeptCounters) => {
      const place = moved.findIndex(({ seq }) => seq === records[owner]?.counters);
      const before = moved[place];
      if (before !== undefined) moved[place] = change(before);
    };
    if (plan.uses !== null)
      move(plan.uses, ({ generation, seq, windows: own }) => ({
        generation,
        seq,
        usage: next.usage,
        windows: own,
      }));
    for (const [index, { owner, window: name, duration }] of plan.limits.entries()) {
      const window = next.windows[index] ?? null;
      if (window === null || window === windows[index]) continue;
      if (owner !== null)
        move(owner, ({ generation, seq, usage, windows: own }) => ({
          generation,
          seq,
          usage,
          windows: withWindow(own, name, window),
        }));
      else this.#passing.set(workspace, name, window.startedAt + duration, window, moment.now);
    }
    for (const [place, after] of moved.entries()) {
      if (after === counters[place]) continue;
      this.#counters.move(after.seq, after);
      this.#connection.memo.counters.set(after.seq, after);
    }
    const request = nameOf(plan, moment);
    if (next.remember !== null && request !== null)
      this.#passing.set(workspace, request, next.remember.until, next.remember, moment.now);
    return result;
  }
}

/** Whether all that a decision rests on belongs to a generation. */
function isOf({ basis, counters }: Decision, generation: number): boolean {
  return (
    basis.generation === generation && counters.every((kept) => kept.generation === generation)
  );
}

/** The name under which the request of a charge is remembered; null where the caller gave none. */
function nameOf({ confirms: [beside] }: ChargePlan, { request }: ChargeMoment): string | null {
  return request === undefined || beside === undefined ? null : requestName(beside, request.id);
}
