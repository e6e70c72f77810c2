import type { JsonValue } from "../lib/json.js";
import type { StoredRecord } from "../records/stored-record.js";
import { nativeSha256, portableSha256 } from "../secrets/hash.js";
import type { Change, RecordAddress } from "./change.js";
import type { ChargePlan, ChargeResult, LimitCharge } from "./charge.js";

/** No limit has this name: those of keys and requests have one character at least. */
const TRAIL_NAME = "";
const DAY_MS = 86_400_000;

/**
 * The list of a trail: of records whose bodies are the addresses that changes touched, `{ kind, id }`, or the names of windows without
 * an owner, `{ window }`.
 */
export function trailList(trail: string): string {
  return `$trail:${trail}`;
}

/**
 * What the names of windows begin with by which a trail holds what was charged: `<kind>:<id>` of a record, or `:<name>` of a window without
 * an owner.
 */
export function trailWindows(trail: string): string {
  return `t:${trail}:`;
}

/** The change, with the address of each record and the name of each window that it writes in the trail, and of other records. */
export function leaveTrail(
  change: Change,
  trail: string,
  others: readonly RecordAddress[] = [],
): Change {
  const digest = nativeSha256 ?? portableSha256;
  const written = [
    ...change.puts.map(({ record }) => record),
    ...change.deletes,
    ...change.counters,
    ...others,
  ];
  const bodies = new Map<string, JsonValue>([
    ...written.map(({ kind, id }) => [`${kind} ${id}`, { kind, id }] as const),
    ...change.dropWindows.map((window) => [` ${window}`, { window }] as const),
  ]);
  const records = Array.from(bodies, ([name, body]): StoredRecord => {
    return {
      kind: "workspace",
      id: `$trail.${trail}.${digest(name)}`,
      version: 1,
      link: null,
      body,
    };
  });
  return {
    ...change,
    puts: [...change.puts, ...records.map((record) => ({ record }))],
    enters: [...change.enters, ...records.map(({ id }) => ({ list: trailList(trail), id }))],
  };
}

const tracked = new WeakMap<ChargePlan, ChargePlan>();

/** The plan, with a window for each record and for each window whose counters it may move: what it takes there says that it did. */
export function trackedPlan(plan: ChargePlan, trail: string): ChargePlan {
  const known = tracked.get(plan);
  if (plan.mode === "peek") return plan;
  const prefix = trailWindows(trail);
  if (known?.limits.at(-1)?.window.startsWith(prefix)) return known;
  const places = new Set([plan.uses, ...plan.limits.map(({ owner }) => owner)]);
  const records = plan.confirms.filter((_, place) => places.has(place));
  const windows = plan.limits.filter(({ owner }) => owner === null);
  const limits = [
    ...records.map(({ kind, id }) => `${kind}:${id}`),
    ...windows.map(({ window }) => `:${window}`),
  ].map((name): LimitCharge => {
    const limit = Number.MAX_SAFE_INTEGER;
    const window = `${prefix}${name}`;
    return { name: TRAIL_NAME, window, limit, duration: DAY_MS, cost: 1, owner: null };
  });
  const made = { ...plan, limits: [...plan.limits, ...limits], memo: undefined };
  tracked.set(plan, made);
  return made;
}

/** The result as the plan would have had it: also where one is remembered that left a trail. */
export function withoutTrail(result: ChargeResult): ChargeResult {
  if (!("limits" in result) || result.limits.every(({ name }) => name !== TRAIL_NAME))
    return result;
  return { ...result, limits: result.limits.filter(({ name }) => name !== TRAIL_NAME) };
}
