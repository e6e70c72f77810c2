import type {
  Change,
  ChargeMoment,
  ChargePlan,
  DueRefill,
  HoldStep,
  LimitCharge,
  RecordAddress,
} from "@latchkey/core";
import type { ModelWorkspace } from "../model/store-model.js";
import { type Body, bodyOf, type StoredLimit } from "./stored-records.js";

/** The name of the limits that requests make up. */
const REQUESTED_LIMIT = "tiles";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Law: nothing is taken for a key that is disabled, expired or without its API, nor in a disabled workspace. */
export function deadKeysTakeNothing(
  workspace: ModelWorkspace,
  { confirms, mode, workspaceId }: ChargePlan,
  { now }: ChargeMoment,
): string | null {
  const key = bodyOf(workspace, "key", confirms[0]?.id);
  if (mode === "peek" || key === null) return null;
  const { disabled, expires, apiId } = key as { expires?: number; apiId: string } & Body;
  if (disabled === true) return `a charge for ${confirms[0]?.id}, which is switched off`;
  if (expires !== undefined && expires <= now) return `a charge for ${confirms[0]?.id}, expired`;
  if (bodyOf(workspace, "api", apiId) === null) return `a charge for a key of ${apiId}, deleted`;
  const off = bodyOf(workspace, "workspace", workspaceId)?.disabled === true;
  return off ? `a charge in ${workspaceId}, which is switched off` : null;
}

/** Law: a plan takes from the counters and limits that the records name, and confirms all of these records. */
export function plansFollowTheRecords(
  workspace: ModelWorkspace,
  plan: ChargePlan,
  { now, refill }: ChargeMoment,
): string | null {
  const [first, other] = plan.confirms;
  // While a copy follows, notes in the trail come after the records of the key.
  const second = other?.kind === "workspace" ? undefined : other;
  const key = bodyOf(workspace, "key", first?.id);
  if (first === undefined || key === null) return null;
  const link = workspace.get("key", first.id)?.record.link ?? null;
  if (link !== (second?.id ?? null)) return `the identity of ${first.id} is not confirmed`;
  if (plan.revision === null) return `the revision is not confirmed for ${first.id}`;
  const isShared = key.usesFrom === "identity";
  if (plan.uses !== (isShared ? 1 : 0)) return `${first.id} takes the uses of another`;
  const identity = bodyOf(workspace, "identity", second?.id);
  const due = dueOf(workspace, isShared ? identity : key, now);
  if (JSON.stringify(due) !== JSON.stringify(refill))
    return `${first.id}: refill ${JSON.stringify(refill)}, due is ${JSON.stringify(due)}`;
  return plan.mode === "peek" && plan.limits.length === 0
    ? null
    : wrongLimit(plan, key.ratelimits, identity?.ratelimits);
}

/** When counters were created: with the identity, or with the first key of a rotated chain, by its own record or the copy in this key. */
function chainCreatedAt(workspace: ModelWorkspace, owner: Body): number {
  const first = bodyOf(workspace, "key", owner.sharedCountersId as string | undefined);
  return (first?.createdAt ?? owner.chainCreatedAt ?? owner.createdAt) as number;
}

/** Law: what refills carry over is counted from the last refill, as often as one fell due since. */
export function refillsAreCounted(workspace: ModelWorkspace, change: Change): string | null {
  for (const { kind, id, usage } of change.counters) {
    const wrong = wrongCount(workspace, { kind, id }, usage?.due ?? null);
    if (wrong !== null) return wrong;
  }
  return null;
}

/** The same for a step that applies a refill on its own. */
export function settledRefillsAreCounted(workspace: ModelWorkspace, step: HoldStep): string | null {
  return step.kind === "refresh" ? wrongCount(workspace, step.of, step.refill) : null;
}

function wrongCount(
  workspace: ModelWorkspace,
  { kind, id }: RecordAddress,
  due: DueRefill | null,
): string | null {
  const body = bodyOf(workspace, kind, id);
  if (due?.carry === undefined || body === null) return null;
  const { units, since } = due.carry;
  const { amount } = Object(body.refill) as StoredRefill;
  const times = duesOf(workspace, body, since ?? Number.NaN, due.dueAt).length;
  return units === Math.min(due.amount, times * amount)
    ? null
    : `${id}: ${units} uses of ${times} refills of ${amount} since ${since}`;
}

/** The latest refill that is due; null: none. */
function dueOf(workspace: ModelWorkspace, owner: Body | null, now: number) {
  const { amount, carryOver = 0 } = Object(owner?.refill) as StoredRefill;
  const dueAt = duesOf(workspace, owner, now - 32 * DAY_MS, now).at(-1);
  if (dueAt === undefined) return null;
  const carry = carryOver > 0 && { carry: { units: 0, since: null } };
  return { amount: amount + carryOver, dueAt, ...carry };
}

interface StoredRefill {
  readonly interval: string | { readonly every: number };
  readonly amount: number;
  readonly carryOver?: number;
  readonly refillDay: number;
}

/** When refills fell due in (since, now], by the UTC calendar, or by adding up spans since the counters were created. */
function duesOf(
  workspace: ModelWorkspace,
  owner: Body | null,
  since: number,
  now: number,
): readonly number[] {
  if (owner === null || owner.refill === undefined || owner.refill === null) return [];
  const { interval, refillDay } = owner.refill as StoredRefill;
  const span = typeof interval === "object" ? interval.every : null;
  const step = span ?? (interval === "hourly" ? HOUR_MS : DAY_MS);
  const from = span === null ? Math.floor(since / step) * step : chainCreatedAt(workspace, owner);
  const dues: number[] = [];
  for (let at = from + step; at <= now; at += step)
    if (at > since && (span !== null || isDueAt(interval as string, refillDay, at))) dues.push(at);
  return dues;
}

/** Whether a calendar interval has a refill at the start of this hour or day. */
function isDueAt(interval: string, refillDay: number, at: number): boolean {
  const isDue: Readonly<Record<string, (day: Date) => boolean>> = {
    hourly: () => true,
    daily: () => true,
    weekly: (day) => (day.getUTCDay() === 0 ? 7 : day.getUTCDay()) === refillDay,
    monthly: (day) => {
      const tomorrow = new Date(day.getTime() + DAY_MS);
      const isLast = tomorrow.getUTCMonth() !== day.getUTCMonth();
      return day.getUTCDate() === refillDay || (isLast && refillDay > day.getUTCDate());
    },
  };
  return isDue[interval]?.(new Date(at)) === true;
}

/** Checks that a plan has exactly the limits of the key and its identity that apply automatically, and those of the request. */
function wrongLimit(plan: ChargePlan, ofKey: unknown, ofIdentity: unknown): string | null {
  const own = (ofKey ?? []) as readonly StoredLimit[];
  const shared = (ofIdentity ?? []) as readonly StoredLimit[];
  const nameOf = ({ name = "default" }: StoredLimit): string => name;
  const applies = (limit: StoredLimit): boolean =>
    limit.autoApply === true || nameOf(limit) === "default";
  const wanted = [
    ...own.filter(applies).map((limit) => ({ ...limit, owner: 0 })),
    ...shared
      .filter((limit) => limit.autoApply === true)
      .filter((limit) => !own.some((other) => nameOf(other) === nameOf(limit)))
      .map((limit) => ({ ...limit, owner: 1 })),
  ];
  const isIn = (limit: StoredLimit & { readonly owner: number }, taken: LimitCharge): boolean =>
    taken.name === nameOf(limit) &&
    taken.limit === limit.limit &&
    taken.duration === limit.duration &&
    taken.algorithm === (limit.algorithm ?? "fixed") &&
    taken.burst === (limit.burst ?? limit.limit) &&
    taken.shadow === (limit.shadow === true) &&
    taken.owner === limit.owner;
  const missing = wanted.find((limit) => !plan.limits.some((taken) => isIn(limit, taken)));
  if (missing !== undefined) return `the limit ${nameOf(missing)} is passed over`;
  const added = plan.limits.find(
    (taken) => taken.name !== REQUESTED_LIMIT && !wanted.some((limit) => isIn(limit, taken)),
  );
  if (added !== undefined) return `the limit ${added.name} of ${added.owner} does not apply`;
  const windows = plan.limits.map(({ owner, window }) => `${owner} ${window}`);
  return new Set(windows).size === windows.length ? null : "two limits share a window";
}
