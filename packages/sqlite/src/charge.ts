import {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  type ChargeState,
  type ChargeStep,
  type LimitCharge,
  NO_USES,
  type RateWindow,
} from "@latchkey/core";
import type { AdHocWindows } from "./ad-hoc-windows.js";
import type { ChargeMemo } from "./charge-memo.js";
import { CHARGE_SQL, type ChargeRow, chargeRow, UNKNOWN } from "./charge-row.js";
import type { Connection } from "./connection.js";
import type { Counters, StoredCounters } from "./counters.js";
import { Query } from "./database.js";
import { RequestMemory } from "./request-memory.js";
import { findWindow, withWindow } from "./windows.js";

type Windows = readonly (RateWindow | null)[];

/** A step that was decided on a row without the write lock. It holds where the row is still the same. */
interface Draft {
  readonly plan: ChargePlan;
  readonly row: ChargeRow;
  readonly step: ChargeStep;
}

/** What a plan is decided on besides the row of its key. */
interface Beside {
  /** The window of each of the plan's limits, in the plan's order. */
  readonly windows: Windows;
  /** Counters of the identity, read in the same transaction; null where the plan needs none, or there are none. */
  readonly identity: StoredCounters | null;
}

const NO_WINDOWS: Windows = [];

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export class Charging {
  readonly #connection: Connection;
  readonly #memo: ChargeMemo;
  readonly #byId: Query;
  readonly #bySeq: Query;
  readonly #counters: Counters;
  readonly #adHocWindows: AdHocWindows;
  readonly #requests: RequestMemory;
  #draft: Draft | undefined;

  constructor(connection: Connection, counters: Counters, adHocWindows: AdHocWindows) {
    const { database, memo } = connection;
    this.#connection = connection;
    this.#memo = memo;
    this.#byId = new Query(database, CHARGE_SQL.byId);
    this.#bySeq = new Query(database, CHARGE_SQL.bySeq);
    this.#counters = counters;
    this.#adHocWindows = adHocWindows;
    this.#requests = new RequestMemory(database);
  }

  /** Answers a plan that writes nothing, without the write lock; null where {@link take} is needed. */
  look(plan: ChargePlan): ChargeResult | null {
    if (!isDecidedOnRow(plan)) {
      if (plan.mode === "take") return null;
      return this.#connection.snapshot(() => {
        const found = this.#byId.first(plan.keyId);
        const row = found === undefined ? null : chargeRow(plan.keyId, found, UNKNOWN);
        return this.#decideOnAll(row, plan, this.#besideOf(row, plan)).result;
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
      const windows = keyWindowsOf(row, plan);
      return this.#store(plan, row, draft.step, { windows, identity: null });
    }
    const beside = this.#besideOf(row, plan);
    return this.#store(plan, row, this.#decideOnAll(row, plan, beside), beside);
  }

  #leaveDraft(plan: ChargePlan, row: ChargeRow, step: ChargeStep): null {
    this.#draft = { plan, row, step };
    return null;
  }

  #decideOnAll(row: ChargeRow | null, plan: ChargePlan, { windows, identity }: Beside): ChargeStep {
    if (row === null) return applyCharge(null, plan);
    const usage = plan.usesFrom === "key" ? row.usage : (identity?.usage ?? NO_USES);
    const state = stateOf(row, plan, usage, windows);
    if (state === null || plan.request === undefined) return applyCharge(state, plan);
    const remembered = this.#requests.get(row.seq, plan.request.id);
    return applyCharge({ ...state, remembered }, plan);
  }

  /** Decides on what is in the row of the key alone. */
  #decide(row: ChargeRow | null, plan: ChargePlan): ChargeStep {
    if (row === null) return applyCharge(null, plan);
    return applyCharge(stateOf(row, plan, row.usage, keyWindowsOf(row, plan)), plan);
  }

  /**
   * Reads a row and keeps it.
   *
   * @param known - An earlier state of the row, which its number finds faster than its id; unless the key was deleted
   * for good since, and made again.
   * @param generation - What the memo answered before this read.
   */
  #read(keyId: string, known: ChargeRow | undefined, generation: number): ChargeRow | null {
    const found = known === undefined ? undefined : this.#bySeq.first(known.seq, keyId);
    const row = found ?? this.#byId.first(keyId);
    if (row === undefined) return null;
    const read = chargeRow(keyId, row, generation);
    this.#memo.set(keyId, read);
    return read;
  }

  #besideOf(row: ChargeRow | null, plan: ChargePlan): Beside {
    if (row === null) return { windows: NO_WINDOWS, identity: null };
    const identity = this.#identityCountersOf(row, plan);
    const windows = plan.limits.map((limit) => {
      if (!limit.isConfigured) return this.#adHocWindows.get(row.countersSeq, limit);
      return findWindow(limit.owner === "key" ? row.windows : (identity?.windows ?? []), limit);
    });
    return { windows, identity };
  }

  /** Never kept: any key of the identity moves them. */
  #identityCountersOf(row: ChargeRow, plan: ChargePlan): StoredCounters | null {
    const { identityCountersSeq: seq, identityId } = row;
    if (seq === null) return null;
    if (plan.usesFrom === "key" && !plan.limits.some(isInIdentityRow)) return null;
    return this.#counters.get(seq, "identity", identityId);
  }

  #store(
    plan: ChargePlan,
    row: ChargeRow | null,
    { result, next }: ChargeStep,
    before: Beside,
  ): ChargeResult {
    if (next === null || row === null) return result;
    let { windows } = row;
    let identityWindows = before.identity?.windows ?? [];
    plan.limits.forEach((limit, index) => {
      const window = next.windows[index] ?? null;
      if (window === null || window === before.windows[index]) return;
      if (isInKeyRow(limit)) windows = withWindow(windows, limit, window);
      else if (isInIdentityRow(limit)) identityWindows = withWindow(identityWindows, limit, window);
      else this.#adHocWindows.set(row.countersSeq, limit, window, plan.now);
    });
    const isFromKey = plan.usesFrom === "key";
    this.#moveKey(plan.keyId, row, isFromKey ? next.usage : row.usage, windows);
    if (before.identity !== null) {
      const usage = isFromKey ? before.identity.usage : next.usage;
      this.#moveIdentity(row, before.identity, { usage, windows: identityWindows });
    }
    if (plan.request !== undefined && next.remember !== null) {
      this.#requests.set(row.seq, plan.request.id, next.remember, plan.now);
    }
    return result;
  }

  #moveKey(
    keyId: string,
    row: ChargeRow,
    usage: ChargeRow["usage"],
    windows: ChargeRow["windows"],
  ): void {
    if (windows === row.windows && usage === row.usage) return;
    this.#counters.set(row.countersSeq, usage, windows);
    const generation = row.isShared ? UNKNOWN : this.#memo.generation;
    this.#memo.set(keyId, { ...row, usage, windows, generation });
  }

  #moveIdentity(
    { identityCountersSeq }: ChargeRow,
    before: StoredCounters,
    { usage, windows }: StoredCounters,
  ): void {
    if (identityCountersSeq === null) return;
    if (windows === before.windows && usage === before.usage) return;
    this.#counters.set(identityCountersSeq, usage, windows);
  }
}

function stateOf(
  row: ChargeRow,
  plan: ChargePlan,
  usage: ChargeState["usage"],
  windows: Windows,
): ChargeState | null {
  if (row.workspaceId !== plan.workspaceId) return null;
  const { keyVersion, identityVersion, epoch } = row;
  return { keyVersion, identityVersion, epoch, usage, windows };
}

function keyWindowsOf(row: ChargeRow | null, { limits }: ChargePlan): Windows {
  if (row === null || limits.length === 0) return NO_WINDOWS;
  return limits.map((limit) => findWindow(row.windows, limit));
}

/** Whether the row of the key is all that a plan rests on. */
function isDecidedOnRow({ request, usesFrom, limits }: ChargePlan): boolean {
  return request === undefined && usesFrom === "key" && limits.every(isInKeyRow);
}

function isInKeyRow({ owner, isConfigured }: LimitCharge): boolean {
  return isConfigured && owner === "key";
}

function isInIdentityRow({ owner, isConfigured }: LimitCharge): boolean {
  return isConfigured && owner === "identity";
}
