import type { ChargeMoment, ChargePlan, LimitCharge } from "@latchkey/core";
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
  const due = isShared
    ? dueOf(identity?.refill, identity?.createdAt, now)
    : dueOf(key.refill, chainCreatedAt(workspace, key), now);
  if (JSON.stringify(due) !== JSON.stringify(refill))
    return `${first.id}: refill ${JSON.stringify(refill)}, due is ${JSON.stringify(due)}`;
  return plan.mode === "peek" && plan.limits.length === 0
    ? null
    : wrongLimit(plan, key.ratelimits, identity?.ratelimits);
}

/** When the first key of a rotated chain was created: by its own record, or if that is gone, by the copy in this key. */
function chainCreatedAt(workspace: ModelWorkspace, key: Body): unknown {
  const first = bodyOf(workspace, "key", key.sharedCountersId as string | undefined);
  return first?.createdAt ?? key.chainCreatedAt ?? key.createdAt;
}

/** The latest refill that is due, by the UTC calendar, or by adding up spans since the counters were created; null: none. */
function dueOf(
  refill: unknown,
  createdAt: unknown,
  now: number,
): { amount: number; dueAt: number } | null {
  if (refill === undefined || refill === null) return null;
  const { interval, amount, refillDay } = refill as {
    readonly interval: string | { readonly every: number };
    readonly amount: number;
    readonly refillDay: number;
  };
  if (typeof interval === "object") {
    let dueAt = createdAt as number;
    while (dueAt + interval.every <= now) dueAt += interval.every;
    return dueAt === createdAt ? null : { amount, dueAt };
  }
  if (interval === "hourly") return { amount, dueAt: Math.floor(now / HOUR_MS) * HOUR_MS };
  const isDue: Readonly<Record<string, (day: Date) => boolean>> = {
    daily: () => true,
    weekly: (day) => (day.getUTCDay() === 0 ? 7 : day.getUTCDay()) === refillDay,
    monthly: (day) => {
      const tomorrow = new Date(day.getTime() + DAY_MS);
      const isLast = tomorrow.getUTCMonth() !== day.getUTCMonth();
      return day.getUTCDate() === refillDay || (isLast && refillDay > day.getUTCDate());
    },
  };
  let day = new Date(Math.floor(now / DAY_MS) * DAY_MS);
  while (!isDue[interval]?.(day)) day = new Date(day.getTime() - DAY_MS);
  return { amount, dueAt: day.getTime() };
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
