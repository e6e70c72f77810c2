import type { JsonValue } from "../lib/json.js";
import type { StoredRecord } from "../records/stored-record.js";
import { sha256Text } from "../secrets/hash.js";
import type { Change, RecordAddress } from "./change.js";
import type { ChargePlan } from "./charge.js";
import type { HoldResult, HoldStep } from "./settle.js";

/** A record, or a window without an owner. */
export type Touched = RecordAddress | { readonly window: string };

/**
 * The list of a trail. Its records hold the addresses of changed records, `{ kind, id }`, or the names of windows without an owner,
 * `{ window }`.
 */
export function trailList(trail: string): string {
  return `$trail:${trail}`;
}

/** The change with its trail: the address of each record and the name of each window that it writes, and those of `others`. */
export function leaveTrail(change: Change, trail: string, others: readonly Touched[] = []): Change {
  const written = [
    ...change.puts.map(({ record }) => record),
    ...change.deletes,
    ...change.counters,
    ...change.dropWindows.map((window) => ({ window })),
    ...others,
  ];
  const bodies = new Map(
    written.map((each): [string, JsonValue] => {
      const body = "window" in each ? { window: each.window } : { kind: each.kind, id: each.id };
      return [nameOf(each), body];
    }),
  );
  const records = Array.from(bodies, ([name, body]): StoredRecord => {
    const id = `$trail.${trail}.${sha256Text(name)}`;
    return { kind: "workspace", id, version: 1, link: null, body };
  });
  return {
    ...change,
    puts: [...change.puts, ...records.map((record) => ({ record }))],
    enters: [...change.enters, ...records.map(({ id }) => ({ list: trailList(trail), id }))],
  };
}

/** A unique name of a record or window. */
export function nameOf(touched: Touched): string {
  return "window" in touched ? ` ${touched.window}` : `${touched.kind} ${touched.id}`;
}

/** What a charge may change: records whose counters it draws from or whose sums it adds to, and windows without an owner. */
export function touchedBy(plan: ChargePlan): readonly Touched[] {
  const counted = plan.counts?.subjects ?? [];
  if (plan.mode === "peek") return counted;
  const beside = plan.hold?.most.map((_, place) => place) ?? [];
  const indexes = new Set([plan.uses, ...plan.limits.map(({ owner }) => owner), ...beside]);
  return [
    ...counted,
    ...plan.confirms.filter((_, index) => indexes.has(index)),
    ...plan.limits.filter(({ owner }) => owner === null),
  ];
}

/** What a hold step has changed: the records of the holds, and windows without an owner. */
export function settledBy(step: HoldStep, result: HoldResult): readonly Touched[] {
  const ended = "expired" in result ? result.expired : "hold" in result ? [result.hold] : [];
  const holds = ended.filter((hold) => hold !== null);
  return [
    ...(step.kind === "refresh" ? [step.of] : []),
    ...holds.flatMap(({ keyId, identityId, limits }): Touched[] => [
      { kind: "key", id: keyId },
      ...(identityId === null ? [] : [{ kind: "identity", id: identityId } as const]),
      ...limits.filter(({ owner }) => owner === null),
    ]),
  ];
}
