import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type ChargeStep,
  type ChargeWrite,
  type Expectation,
  NO_USES,
  type RateWindow,
  UNLIMITED_USES,
} from "@latchkey/core";
import { Counters } from "./counters.js";
import type { Connection } from "./engine/connection.js";
import type { KeptCounters } from "./engine/counters-memo.js";
import { prepareQuery, type Row, type SqliteStatement } from "./engine/database.js";
import {
  findWindow,
  readUsage,
  readWindows,
  type StoredCounters,
  withWindow,
} from "./engine/stored-counters.js";
import { Passing } from "./passing.js";
import { revisionOf } from "./read.js";
import { KIND_CODE } from "./stored-record.js";

const CONFIRMED = `SELECT w.revision, r.version, r.seq, r.counters, c.remaining, c.refilled_at, c.last_refill_at, c.windows
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters`;

export const CHARGE_SQL = {
  bySeq: `${CONFIRMED} WHERE r.seq = ? AND r.workspace = ? AND r.kind = ? AND r.id = ?`,
  byId: `${CONFIRMED} WHERE r.workspace = ? AND r.kind = ? AND r.id = ?`,
  revision: "SELECT revision FROM latchkey_workspace WHERE seq = ?",
} as const;

type Stale = Extract<ChargeResult, { kind: "stale" }>;

/** A record that a plan rests on, and its counters, if it has some. */
interface Confirmed {
  readonly seq: number;
  readonly counters: number | null;
}

/** What is kept with a plan. */
interface PlanMemo {
  /** Whose numbers these are. */
  readonly connection: Connection;
  /** A copy of a plan may bring the memo of the plan that it was copied from. */
  readonly plan: ChargePlan;
  readonly workspace: number;
  /** In the order of what the plan confirms. */
  readonly confirmed: readonly (Confirmed | null)[];
  /** In which all that the plan confirms was found to hold: as the generations of the memo of counters. */
  readonly generation: number;
}

/** A step with what it was decided on. It holds while that is as stored. */
interface Decision {
  readonly moment: ChargeMoment;
  readonly memo: PlanMemo;
  /** In the order of what the plan confirms. */
  readonly counters: readonly (KeptCounters | null)[];
  /** In the order of the plan's limits. */
  readonly windows: readonly (RateWindow | null)[];
  readonly step: ChargeStep;
}

/** Equal to no generation: what was read for it alone. */
const ONCE = Number.NaN;

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export class Charging {
  readonly #connection: Connection;
  readonly #bySeq: SqliteStatement;
  readonly #byId: SqliteStatement;
  readonly #revision: SqliteStatement;
  readonly #counters: Counters;
  readonly #passing: Passing;
  #draft: Decision | undefined;

  constructor(connection: Connection) {
    const { database } = connection;
    this.#connection = connection;
    this.#bySeq = prepareQuery(database, CHARGE_SQL.bySeq);
    this.#byId = prepareQuery(database, CHARGE_SQL.byId);
    this.#revision = prepareQuery(database, CHARGE_SQL.revision);
    this.#counters = new Counters(database);
    this.#passing = new Passing(database);
  }

  /** Answers a plan that writes nothing, without the write lock; null where {@link take} is needed. */
  look(plan: ChargePlan, moment: ChargeMoment): ChargeResult | null {
    if (isBesideCounters(plan, moment)) {
      if (plan.mode === "commit") return null;
      return this.#connection.snapshot(() => resultOf(this.#decide(plan, moment, ONCE)));
    }
    const likely = this.#decideOnKept(plan, moment);
    // Whether or not it is still as stored: the transaction will tell.
    if (likely !== null && likely.step.next !== null) return this.#leave(likely);
    const generation = this.#connection.memo.ask();
    if (likely !== null && isOf(likely, generation)) return likely.step.result;
    const decision = this.#snapshotFor(plan, () => this.#decide(plan, moment, generation));
    if ("step" in decision && decision.step.next !== null) return this.#leave(decision);
    return resultOf(decision);
  }

  /** Carries a plan out. Call it inside a write transaction in which the memo was confirmed. */
  take(plan: ChargePlan, moment: ChargeMoment): ChargeResult {
    const { generation } = this.#connection.memo;
    const draft = this.#draft;
    this.#draft = undefined;
    if (draft !== undefined && draft.moment === moment && draft.memo === plan.memo) {
      if (isOf(draft, generation) && this.#isLatest(draft)) return this.#store(plan, draft);
    }
    const decision = this.#decide(plan, moment, generation);
    return "step" in decision ? this.#store(plan, decision) : decision;
  }

  #leave(draft: Decision): null {
    this.#draft = draft;
    return null;
  }

  /** Decides on what is kept, as old as it may be; null where not all of it is. */
  #decideOnKept(plan: ChargePlan, moment: ChargeMoment): Decision | null {
    const memo = this.#memoOf(plan);
    if (memo === null) return null;
    const counters: (KeptCounters | null)[] = [];
    for (const confirmed of memo.confirmed) {
      const seq = confirmed?.counters ?? null;
      const kept = seq === null ? null : this.#connection.memo.get(seq);
      if (kept === undefined) return null;
      counters.push(kept);
    }
    return this.#decideOn(plan, moment, memo, counters);
  }

  /** Reads what the plan rests on, keeps it with the generation given, and decides. */
  #decide(plan: ChargePlan, moment: ChargeMoment, generation: number): Decision | Stale {
    const { memo, names } = this.#connection;
    const workspace = names.workspace(plan.workspaceId);
    const known = this.#memoOf(plan);
    const rows = plan.confirms.map((expected, place) =>
      this.#row(workspace, expected, known?.confirmed[place]?.seq),
    );
    const stale = this.#staleness(plan, workspace, rows);
    if (stale !== null) return stale;
    const counters = rows.map((row) => (row === undefined ? null : countersIn(row, generation)));
    const confirmed = rows.map((row) => (row === undefined ? null : confirmedIn(row)));
    for (const [place, kept] of counters.entries()) {
      const seq = confirmed[place]?.counters ?? null;
      if (seq !== null && kept !== null) memo.set(seq, kept);
    }
    const planMemo = { connection: this.#connection, plan, workspace, confirmed, generation };
    plan.memo = planMemo;
    return this.#decideOn(plan, moment, planMemo, counters);
  }

  #decideOn(
    plan: ChargePlan,
    moment: ChargeMoment,
    memo: PlanMemo,
    counters: readonly (KeptCounters | null)[],
  ): Decision {
    const { workspace } = memo;
    const usage = plan.uses === null ? UNLIMITED_USES : (counters[plan.uses]?.usage ?? NO_USES);
    const windows = plan.limits.map(({ owner, window }) => {
      if (owner === null) return this.#passing.window(workspace, window);
      const kept = counters[owner] ?? null;
      return kept === null ? null : findWindow(kept.windows, window);
    });
    const beside = plan.confirms[0];
    const { request } = moment;
    const remembered =
      request === undefined || beside === undefined
        ? null
        : this.#passing.request(workspace, beside, request.id);
    const step = applyCharge({ usage, windows, remembered }, plan, moment);
    return { moment, memo, counters, windows, step };
  }

  /** @param known - The number of the record as it was, by which it is found faster; it may be gone since. */
  #row(workspace: number, expected: Expectation, known: number | undefined): Row | undefined {
    const kind = KIND_CODE[expected.kind];
    const seq = known ?? expected.handle;
    const found =
      typeof seq === "number" ? this.#bySeq.get(seq, workspace, kind, expected.id) : undefined;
    return (found ?? this.#byId.get(workspace, kind, expected.id)) as Row | undefined;
  }

  /** What of a plan moved: the revision first, then each record. */
  #staleness(
    { revision, confirms }: ChargePlan,
    workspace: number,
    rows: readonly (Row | undefined)[],
  ): Stale | null {
    if (revision !== null) {
      const row = rows.find((one) => one !== undefined) ?? this.#revision.get(workspace);
      if (revisionOf(row as Row | undefined) !== revision)
        return { kind: "stale", moved: "revision" };
    }
    for (const [place, { version }] of confirms.entries()) {
      const row = rows[place];
      const isHeld =
        version === null || row === undefined
          ? version === null && row === undefined
          : version === "exists" || version === row[1];
      if (!isHeld) return { kind: "stale", moved: place };
    }
    return null;
  }

  #store(plan: ChargePlan, decision: Decision): ChargeResult {
    const { moment, memo, windows, step } = decision;
    const { next } = step;
    if (next === null) return step.result;
    for (const [seq, counters] of movedCounters(plan, decision, next)) {
      this.#counters.move(seq, counters);
      const { generation } = this.#connection.memo;
      this.#connection.memo.set(seq, { ...counters, generation });
    }
    for (const [index, limit] of plan.limits.entries()) {
      const window = next.windows[index] ?? null;
      if (limit.owner !== null || window === null || window === windows[index]) continue;
      this.#passing.setWindow(memo.workspace, limit, window, moment.now);
    }
    const beside = plan.confirms[0];
    if (next.remember !== null && moment.request !== undefined && beside !== undefined) {
      const { id } = moment.request;
      this.#passing.setRequest(memo.workspace, beside, id, next.remember, moment.now);
    }
    return step.result;
  }

  /** One statement is a snapshot of its own. */
  #snapshotFor<Result>({ confirms }: ChargePlan, work: () => Result): Result {
    return confirms.length > 1 ? this.#connection.snapshot(work) : work();
  }

  #memoOf(plan: ChargePlan): PlanMemo | null {
    const memo = plan.memo as PlanMemo | undefined;
    return memo?.connection === this.#connection && memo.plan === plan ? memo : null;
  }

  /** Whether nothing was charged since to what a decision rests on. */
  #isLatest({ memo, counters }: Decision): boolean {
    return memo.confirmed.every((confirmed, place) => {
      const seq = confirmed?.counters ?? null;
      return seq === null || this.#connection.memo.get(seq) === counters[place];
    });
  }
}

/** Whether all that a decision rests on belongs to a generation. */
function isOf({ memo, counters }: Decision, generation: number): boolean {
  if (memo.generation !== generation) return false;
  return counters.every((kept) => kept === null || kept.generation === generation);
}

/** Counters after a charge, by their number. Records may share them. */
function movedCounters(
  plan: ChargePlan,
  { memo, counters, windows }: Decision,
  next: ChargeWrite,
): ReadonlyMap<number, StoredCounters> {
  const moved = new Map<number, StoredCounters>();
  const move = (place: number, change: (before: StoredCounters) => StoredCounters) => {
    const seq = memo.confirmed[place]?.counters ?? null;
    const before = seq === null ? null : (moved.get(seq) ?? counters[place] ?? null);
    if (seq !== null && before !== null) moved.set(seq, change(before));
  };
  const { uses } = plan;
  if (uses !== null && next.usage !== counters[uses]?.usage)
    move(uses, (before) => ({ usage: next.usage, windows: before.windows }));
  for (const [index, { owner, window: name }] of plan.limits.entries()) {
    const window = next.windows[index] ?? null;
    if (owner === null || window === null || window === windows[index]) continue;
    move(owner, ({ usage, windows: others }) => ({
      usage,
      windows: withWindow(others, name, window),
    }));
  }
  return moved;
}

/** Whether a plan rests on more than records and their counters. */
function isBesideCounters({ limits }: ChargePlan, { request }: ChargeMoment): boolean {
  return request !== undefined || limits.some(({ owner }) => owner === null);
}

function resultOf(decision: Decision | Stale): ChargeResult {
  return "step" in decision ? decision.step.result : decision;
}

function confirmedIn(row: Row): Confirmed {
  return { seq: row[2] as number, counters: row[3] as number | null };
}

/** @throws LatchkeyError `STORE_CORRUPT` when they cannot be what was written. */
function countersIn(row: Row, generation: number): KeptCounters | null {
  if (row[3] === null) return null;
  return { usage: readUsage(row[4], row[5], row[6]), windows: readWindows(row[7]), generation };
}
