import {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  type CountSubject,
  decideWindow,
  type HourCount,
  type KeyRecord,
  type LimitCharge,
  type NamespacePlan,
  NO_USES,
  type RememberedCharge,
  type VerificationBatch,
  type WindowDecision,
} from "@latchkey/core";
import { countersOf, type Model } from "./model-state.js";

/**
 * Mirrors `charge`.
 *
 * @param epoch - The epoch of the key's workspace in the store.
 */
export function charge(model: Model, plan: ChargePlan, epoch: number): ChargeResult {
  const key = model.key(plan.workspaceId, plan.keyId);
  if (key === undefined) return { kind: "stale" };
  const { record } = key;
  const identity = model.identity(plan.workspaceId, record.identityId);
  const names = plan.limits.map((limit) => windowName(record, limit));
  const shared = identity?.usage ?? NO_USES;
  const state = {
    keyVersion: record.version,
    identityVersion: identity?.record.version ?? null,
    epoch,
    usage: plan.usesFrom === "key" ? model.usage(record) : shared,
    windows: names.map((name) => model.windows.get(name) ?? null),
    remembered: plan.request ? remembered(model, plan.keyId, plan.request.id) : null,
  };
  const { result, next } = applyCharge(state, plan);
  if (next === null) return result;
  if (plan.usesFrom === "key") model.usages.set(countersOf(record), next.usage);
  else if (identity !== undefined) identity.usage = next.usage;
  for (const [index, window] of next.windows.entries()) {
    if (window !== null) model.windows.set(names[index] as string, window);
  }
  if (next.remember !== null)
    model.remembered.set(`${plan.keyId} ${plan.request?.id}`, next.remember);
  return result;
}

/** What is remembered of a request of a key, expired or not. */
export function remembered(
  model: Model,
  keyId: string,
  requestId: string,
): RememberedCharge | null {
  return model.remembered.get(`${keyId} ${requestId}`) ?? null;
}

/** Mirrors `takeFromNamespace`. */
export function takeFromNamespace(model: Model, plan: NamespacePlan): WindowDecision {
  const { workspaceId, namespace, identifier, durationMs } = plan;
  const name = JSON.stringify([workspaceId, "namespace", namespace, identifier, durationMs]);
  const decision = decideWindow(model.windows.get(name) ?? null, plan, plan.cost, plan.now);
  if (decision.kind === "admit" && plan.cost > 0) model.windows.set(name, decision.window);
  return decision;
}

/** Mirrors `addVerifications`. */
export function addVerifications(
  model: Model,
  workspaceId: string,
  { counts, lastUsed }: VerificationBatch,
): void {
  for (const count of counts) model.counts.push({ ...count, workspaceId });
  for (const { keyId, usedAt } of lastUsed) {
    const key = model.keys.find(
      ({ record }) => record.id === keyId && record.workspaceId === workspaceId,
    );
    if (key !== undefined) key.lastUsedAt = Math.max(usedAt, key.lastUsedAt ?? usedAt);
  }
}

/** Mirrors `getVerifications`. Verdicts of one hour are in the order of their codes. */
export function getVerifications(
  model: Model,
  workspaceId: string,
  subject: CountSubject,
  startAt: number,
  endAt: number,
): readonly HourCount[] {
  const sums = new Map<string, HourCount>();
  for (const { hourAt, code, count, ...of } of model.counts) {
    if (of.workspaceId !== workspaceId || hourAt < startAt || hourAt >= endAt) continue;
    if (of.subject.kind !== subject.kind || of.subject.id !== subject.id) continue;
    const name = `${hourAt} ${code}`;
    sums.set(name, { hourAt, code, count: count + (sums.get(name)?.count ?? 0) });
  }
  return inOrderOfHour([...sums.values()]);
}

/** Counts in ascending order of hour, and of code within an hour. */
export function inOrderOfHour(counts: readonly HourCount[]): readonly HourCount[] {
  return counts.toSorted((one, two) => one.hourAt - two.hourAt || (one.code < two.code ? -1 : 1));
}

/** Mirrors `deleteVerifications`, called until there are no more. */
export function deleteVerifications(model: Model, workspaceId: string, beforeAt: number): void {
  model.counts = model.counts.filter(
    (count) => count.workspaceId !== workspaceId || count.hourAt >= beforeAt,
  );
}

function windowName(key: KeyRecord, { owner, isConfigured, name, durationMs }: LimitCharge) {
  const ownerId = owner === "key" ? countersOf(key) : key.identityId;
  return JSON.stringify([ownerId, isConfigured, name, durationMs]);
}
