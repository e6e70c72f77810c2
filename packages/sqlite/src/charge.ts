import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type ChargeWrite,
  countedByCharge,
  endsAt,
  isVersion,
  limitStateText,
  NO_USES,
  requestName,
  UNLIMITED_USES,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { findCounters, moveCounters, withWindow } from "./engine/counters.js";
import type { KeptCounters, KeptRecord } from "./engine/memo.js";
import { addressOf } from "./engine/statements.js";
import { findRequest, findWindow, keepExpiring } from "./expiring.js";
import { putHold, settle } from "./holds.js";
import { addStatistics } from "./statistics.js";
import { keptRecord } from "./stored-record.js";

/** The data that a plan was confirmed against. Cached in `plan.memo`. */
interface Basis {
  readonly connection: Connection;
  /** Compared with the plan in use: a copy of a plan may carry the basis of the original. */
  readonly plan: ChargePlan;
  readonly workspace: number;
  /** The generation in which everything that the plan confirms was found to hold. */
  readonly generation: number;
  /** In the order of `plan.confirms`; null if there is no record. */
  readonly records: readonly (KeptRecord | null)[];
}

type Stale = Extract<ChargeResult, { kind: "stale" }>;
type Decided = ReturnType<typeof decide>;

/** Answers a plan that writes nothing, without the write lock; null if {@link charge} is needed. */
export function answerWithoutLock(connection: Connection, plan: ChargePlan, moment: ChargeMoment) {
  if (plan.counts !== undefined || moment.ends !== undefined) return null;
  const usesExpiring =
    moment.request !== undefined || plan.limits.some(({ owner }) => owner === null);
  if (usesExpiring && plan.mode === "commit") return null;
  const known = usesExpiring ? null : knownBasis(connection, plan);
  if (known !== null) {
    const { result, next } = decide(known, moment);
    // Even if the basis is outdated: the transaction checks it.
    if (next !== null) return null;
    const isCurrent = known.generation === connection.memo.confirm();
    const { age } = connection.memo;
    if (isCurrent && known.records.every((each) => (each?.counters?.age ?? age) === age))
      return result;
  }
  return connection.snapshot(() => {
    const basis = currentBasis(connection, plan);
    if ("kind" in basis) return basis;
    const { result, next } = decide(basis, moment);
    return next === null ? result : null;
  });
}

/** Carries a plan out. Call it inside a write transaction. */
export function charge(at: Connection, plan: ChargePlan, moment: ChargeMoment): ChargeResult {
  const { ends, now } = moment;
  if (ends !== undefined) settle(at, plan.workspaceId, ends, { now, revision: plan.revision });
  const basis = currentBasis(at, plan, true);
  if ("kind" in basis) return basis;
  const decided = decide(basis, moment);
  if (decided.next !== null) store(basis, moment, decided, decided.next);
  const counted = countedByCharge(plan, moment, decided.result);
  if (counted !== null) addStatistics(at, plan.workspaceId, counted);
  return decided.result;
}

/** The cached basis of a plan, of any generation. A new plan gets one if all its records were just read. Null if there is none. */
function knownBasis(connection: Connection, plan: ChargePlan): Basis | null {
  const known = plan.memo as Basis | undefined;
  if (known?.connection === connection && known.plan === plan) return known;
  const { names, memo } = connection;
  const { generation } = memo;
  const workspace = names.workspace(plan.workspaceId);
  const records: KeptRecord[] = [];
  for (const { kind, id, handle } of plan.confirms) {
    const kept = handle as KeptRecord | undefined;
    const isSameRecord = kept?.memo === memo && kept.workspace === workspace && kept.kind === kind;
    if (!isSameRecord || kept.id !== id || kept.generation !== generation) return null;
    records.push(kept);
  }
  const [first] = records;
  if (first === undefined) return null;
  const basis = confirm({ connection, plan, workspace, generation, records }, first.revision);
  return "kind" in basis ? null : basis;
}

/** The current basis of a plan. Reads the parts that are not cached, and caches them. Call it on a confirmed memo. */
function currentBasis(connection: Connection, plan: ChargePlan, isWriting = false): Basis | Stale {
  const { names, memo, run } = connection;
  const { generation, age } = memo;
  let basis: Basis | Stale | null = knownBasis(connection, plan);
  if (basis?.generation !== generation) {
    // Without the workspace, everything that is based on a record is stale.
    const canBeNew = plan.confirms.every(({ version }) => version === null);
    const workspace = names.workspace(plan.workspaceId, isWriting && canBeNew);
    const revision = memo.revision(plan.workspaceId);
    const records = plan.confirms.map((confirmed) => {
      const row = run.byId.get(...addressOf(workspace, confirmed));
      return row ? keptRecord(memo, confirmed, row) : null;
    });
    basis = confirm({ connection, plan, workspace, generation, records }, revision);
  }
  if ("kind" in basis) return basis;
  // Others have charged since: only counters are read again.
  for (const record of basis.records)
    if (record?.counters && record.counters.age !== age)
      Object.assign(record.counters, findCounters(connection, record.counters.seq), { age });
  return basis;
}

/** Checks everything that a plan confirms: first the revision, then each record. */
function confirm(basis: Basis, revision: number | null): Basis | Stale {
  const { plan, records } = basis;
  if (plan.revision !== null && plan.revision !== revision)
    return { kind: "stale", moved: "revision" };
  const moved = plan.confirms.findIndex(
    ({ version }, index) => !isVersion(records[index]?.version ?? null, version),
  );
  if (moved !== -1) return { kind: "stale", moved };
  // A new record begins no generation, so the absence of a record cannot be cached.
  if (!records.includes(null)) plan.memo = basis;
  return basis;
}

/** Decides a charge. Also returns the windows that it was decided on, and the name of its request. */
function decide({ connection, plan, workspace, records }: Basis, moment: ChargeMoment) {
  const { uses, limits } = plan;
  const usage = uses === null ? UNLIMITED_USES : (records[uses]?.counters?.usage ?? NO_USES);
  const windows = limits.map(({ owner, window }) => {
    if (owner === null) return findWindow(connection, workspace, window);
    return records[owner]?.counters?.windows.find(({ name }) => name === window)?.window ?? null;
  });
  const request = moment.request ? requestName(plan.confirms[0], moment.request.id) : null;
  const remembered = request === null ? null : findRequest(connection, workspace, request);
  const holdsOf = (record: KeptRecord | null) => record?.counters?.usage.holds;
  const holds = records.some(holdsOf) ? records.map(holdsOf) : undefined;
  const { result, next } = applyCharge({ usage, windows, remembered, holds }, plan, moment);
  return { result, next, windows, request };
}

function store(basis: Basis, { now }: ChargeMoment, decided: Decided, next: ChargeWrite): void {
  const { connection, plan, workspace, records } = basis;
  const moved = new Set<KeptCounters>();
  const used = plan.uses === null ? null : records[plan.uses]?.counters;
  if (used && used.usage !== next.usage) moved.add(Object.assign(used, { usage: next.usage }));
  for (const [index, limit] of plan.limits.entries()) {
    const { owner, window: name } = limit;
    const window = next.windows[index] ?? null;
    if (window === null || window === decided.windows[index]) continue;
    const own = owner === null ? null : records[owner]?.counters;
    if (own) moved.add(Object.assign(own, { windows: withWindow(own.windows, name, window) }));
    if (owner !== null) continue;
    const until = endsAt(window, limit);
    keepExpiring(connection, workspace, name, until, limitStateText(window), now);
  }
  for (const [place, holds] of (next.held?.sums ?? []).entries()) {
    const own = records[place]?.counters;
    if (own) moved.add(Object.assign(own, { usage: { ...own.usage, holds } }));
  }
  const [first = null, second = null] = records.map((each) => each?.counters?.seq ?? null);
  for (const hold of next.held?.holds ?? []) putHold(connection, workspace, hold, [first, second]);
  for (const counters of moved) moveCounters(connection, counters.seq, counters);
  const { remember } = next;
  if (remember !== null && decided.request !== null)
    keepExpiring(connection, workspace, decided.request, remember.until, remember, now);
}
