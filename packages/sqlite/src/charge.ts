import {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  type ChargeStep,
  type LimitCharge,
  type RateWindow,
  type Usage,
} from "@latchkey/core";
import { AdHocWindows } from "./ad-hoc-windows.js";
import type { ChargeMemo, ChargeRow } from "./charge-memo.js";
import type { Connection } from "./connection.js";
import { Command, Query, type RawRow } from "./database.js";
import { IdentityWindows } from "./identity-windows.js";
import { RequestMemory } from "./request-memory.js";
import { flag, nullable, readStored, text, whole } from "./values.js";
import { decodeWindows, encodeWindows, findWindow, withWindow } from "./windows.js";

const ROW = `SELECT k.seq, k.workspace_id, k.identity_id, k.version, u.remaining, u.refilled_at, u.windows,
  w.epoch, i.version, i.seq, k.is_counted
  FROM latchkey_key k
  LEFT JOIN latchkey_usage u ON u.key_seq = CASE WHEN k.is_counted THEN k.seq END
  LEFT JOIN latchkey_workspace w ON w.id = k.workspace_id
  LEFT JOIN latchkey_identity i ON i.id = k.identity_id AND i.workspace_id = k.workspace_id`;

export const CHARGE_SQL = {
  byId: `${ROW} WHERE k.id = ? AND k.deleted_at IS NULL`,
  bySeq: `${ROW} WHERE k.seq = ? AND k.id = ? AND k.deleted_at IS NULL`,
  move: "UPDATE latchkey_usage SET remaining = ?, refilled_at = ?, windows = ? WHERE key_seq = ?",
} as const;

type Windows = readonly (RateWindow | null)[];
type Next = NonNullable<ChargeStep["next"]>;

/** A step that was decided on a row without the write lock. It holds where the row is still the same. */
interface Draft {
  readonly plan: ChargePlan;
  readonly row: ChargeRow;
  readonly step: ChargeStep;
}

const NO_WINDOWS: Windows = [];

type Counters = Pick<ChargeRow, "usage" | "windows">;

/** Without a number of uses no refill is ever settled: up to when they are does not matter. */
const UNCOUNTED: Counters = { usage: { remaining: null, refilledAt: 0 }, windows: [] };

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export class Charging {
  readonly #connection: Connection;
  readonly #memo: ChargeMemo;
  readonly #byId: Query;
  readonly #bySeq: Query;
  readonly #move: Command;
  readonly #identityWindows: IdentityWindows;
  readonly #adHocWindows: AdHocWindows;
  readonly #requests: RequestMemory;
  #draft: Draft | undefined;

  constructor(connection: Connection) {
    const { database, memo } = connection;
    this.#connection = connection;
    this.#memo = memo;
    this.#byId = new Query(database, CHARGE_SQL.byId);
    this.#bySeq = new Query(database, CHARGE_SQL.bySeq);
    this.#move = new Command(database, CHARGE_SQL.move);
    this.#identityWindows = new IdentityWindows(database);
    this.#adHocWindows = new AdHocWindows(database);
    this.#requests = new RequestMemory(database);
  }

  /** Answers a plan that writes nothing, without the write lock; null where {@link take} is needed. */
  look(plan: ChargePlan): ChargeResult | null {
    if (plan.request !== undefined || !plan.limits.every(isInKeyRow)) {
      if (plan.mode === "take") return null;
      return this.#connection.snapshot(() => {
        const found = this.#byId.first(plan.keyId);
        const row = found === undefined ? null : rowOf(plan.keyId, found, Number.NaN);
        return this.#decideOnAll(row, plan, this.#windowsOf(row, plan)).result;
      });
    }
    const kept = this.#memo.get(plan.keyId);
    const likely = kept === undefined ? null : this.#decide(kept, plan);
    // Whether or not the row is as stored: the transaction will tell.
    if (kept !== undefined && likely !== null && likely.next !== null) {
      return this.#leaveDraft(plan, kept, likely);
    }
    const generation = this.#memo.ask();
    if (likely !== null && kept?.generation === generation) return likely.result;
    const row = this.#read(plan.keyId, kept, generation);
    const step = this.#decide(row, plan);
    return step.next === null || row === null ? step.result : this.#leaveDraft(plan, row, step);
  }

  /** Carries a plan out. To be called inside a write transaction, once the memo was confirmed in it. */
  take(plan: ChargePlan): ChargeResult {
    const kept = this.#memo.get(plan.keyId);
    const { generation } = this.#memo;
    const isCurrent = kept !== undefined && kept.generation === generation;
    const row = isCurrent ? kept : this.#read(plan.keyId, kept, generation);
    const draft = this.#draft;
    if (draft !== undefined && draft.plan === plan && draft.row === row) {
      this.#draft = undefined;
      return this.#store(plan, row, draft.step, keyWindowsOf(row, plan));
    }
    const windows = this.#windowsOf(row, plan);
    return this.#store(plan, row, this.#decideOnAll(row, plan, windows), windows);
  }

  #leaveDraft(plan: ChargePlan, row: ChargeRow, step: ChargeStep): null {
    this.#draft = { plan, row, step };
    return null;
  }

  #decideOnAll(row: ChargeRow | null, plan: ChargePlan, windows: Windows): ChargeStep {
    const state = stateOf(row, plan, windows);
    if (state === null || row === null || plan.request === undefined)
      return applyCharge(state, plan);
    const remembered = this.#requests.get(row.seq, plan.request.id);
    return applyCharge({ ...state, remembered }, plan);
  }

  /** Decides on what is in the row of the key alone. */
  #decide(row: ChargeRow | null, plan: ChargePlan): ChargeStep {
    return applyCharge(stateOf(row, plan, keyWindowsOf(row, plan)), plan);
  }

  /**
   * Reads a row and keeps it.
   *
   * @param known - An earlier state of the row: its number never changes, and finds it faster than its id.
   * @param generation - What the memo answered before this read.
   */
  #read(keyId: string, known: ChargeRow | undefined, generation: number): ChargeRow | null {
    const row = known === undefined ? this.#byId.first(keyId) : this.#bySeq.first(known.seq, keyId);
    if (row === undefined) return null;
    const read = rowOf(keyId, row, generation);
    this.#memo.set(keyId, read);
    return read;
  }

  #windowsOf(row: ChargeRow | null, plan: ChargePlan): Windows {
    if (row === null || plan.limits.length === 0) return NO_WINDOWS;
    const shared = plan.limits.some(isInIdentityRow) ? this.#identityWindows.get(row) : [];
    return plan.limits.map((limit) => {
      if (!limit.isConfigured) return this.#adHocWindows.get(row.seq, limit);
      return findWindow(limit.owner === "key" ? row.windows : shared, limit);
    });
  }

  #store(
    plan: ChargePlan,
    row: ChargeRow | null,
    { result, next }: ChargeStep,
    before: Windows,
  ): ChargeResult {
    if (next === null || row === null) return result;
    let { windows } = row;
    plan.limits.forEach((limit, index) => {
      const window = next.windows[index] ?? null;
      if (window === null || window === before[index]) return;
      if (isInKeyRow(limit)) windows = withWindow(windows, limit, window);
      else if (isInIdentityRow(limit)) this.#identityWindows.set(row, limit, window);
      else this.#adHocWindows.set(row.seq, limit, window, plan.now);
    });
    this.#moveKey(plan.keyId, row, next.usage, windows);
    if (plan.request !== undefined && next.remember !== null) {
      this.#requests.set(row.seq, plan.request.id, next.remember, plan.now);
    }
    return result;
  }

  #moveKey(
    keyId: string,
    row: ChargeRow,
    usage: Next["usage"],
    windows: ChargeRow["windows"],
  ): void {
    if (windows === row.windows && isSame(usage, row.usage)) return;
    this.#move.run(usage.remaining, usage.refilledAt, encodeWindows(windows), row.seq);
    const { generation } = this.#memo;
    this.#memo.set(keyId, { ...row, usage, windows, generation });
  }
}

function rowOf(keyId: string, row: RawRow, generation: number): ChargeRow {
  return readStored("key", keyId, () => ({
    seq: whole(row[0]),
    workspaceId: text(row[1]),
    identityId: nullable(row[2], text),
    keyVersion: whole(row[3]),
    ...(flag(row[10]) ? countersOf(row) : UNCOUNTED),
    epoch: nullable(row[7], whole) ?? 0,
    identityVersion: nullable(row[8], whole),
    identitySeq: nullable(row[9], whole),
    generation,
  }));
}

function countersOf(row: RawRow): Counters {
  return {
    usage: { remaining: nullable(row[4], whole), refilledAt: whole(row[5]) },
    windows: decodeWindows(row[6]),
  };
}

function stateOf(row: ChargeRow | null, plan: ChargePlan, windows: Windows) {
  if (row === null || row.workspaceId !== plan.workspaceId) return null;
  const { keyVersion, identityVersion, epoch, usage } = row;
  return { keyVersion, identityVersion, epoch, usage, windows };
}

function keyWindowsOf(row: ChargeRow | null, { limits }: ChargePlan): Windows {
  if (row === null || limits.length === 0) return NO_WINDOWS;
  return limits.map((limit) => findWindow(row.windows, limit));
}

function isInKeyRow({ owner, isConfigured }: LimitCharge): boolean {
  return isConfigured && owner === "key";
}

function isInIdentityRow({ owner, isConfigured }: LimitCharge): boolean {
  return isConfigured && owner === "identity";
}

function isSame(usage: Usage, other: Usage): boolean {
  return usage.remaining === other.remaining && usage.refilledAt === other.refilledAt;
}
