import { corruptRecord } from "../errors.js";
import type { JsonValue } from "../lib/json.js";
import { parseWhole } from "../lib/whole.js";
import type { StoredRecord } from "../records/record-type.js";
import { MAX_LEASE_MS } from "../rules/lease.js";
import { sha256Text } from "../secrets/hash.js";
import type { SpanMs } from "../time.js";
import type { Change, Expectation, RecordAddress } from "./change.js";
import type { ChargePlan } from "./charge.js";
import type { LoadedRecord } from "./key-store.js";
import type { HoldResult, HoldStep } from "./settle.js";

/**
 * Whether the records of a workspace may be used. `incomplete`: not all are here yet. `moved`: they are used elsewhere. `followed`: they
 * may be used, and every change leaves its address in a trail, for a live copy. `open`: all have arrived. `deleting`: only the deletion
 * writes.
 */
export type WorkspaceState =
  | {
      readonly state: "incomplete" | "moved" | "open" | "deleting";
      readonly transfer: string;
      /** Source of the copy: a store, or a file. */
      readonly source?: string;
    }
  | { readonly state: "followed"; readonly transfer: string; readonly trail: string };

/**
 * How long leases last in a workspace, in any process. The record of the workspace's state holds this, and every commit expects that
 * record, so that every change knows how long to wait.
 *
 * @see packages/core/decisions/0051-leases-end-before-a-change-resolves.md
 */
export interface LeaseTimes {
  /** The longest lease that a process may have from now on; 0: none. */
  readonly grant: SpanMs;
  /** How long a change waits for leases before it resolves. */
  readonly wait: SpanMs;
}

/** Address of the record with the {@link WorkspaceState}, unlike any id of a workspace. A workspace without this record is open. */
export const STATE_ADDRESS: RecordAddress = { kind: "workspace", id: "$state" };

/** The state that a record holds; null without a record: the workspace is open. @throws LatchkeyError `STORE_CORRUPT` if it is damaged. */
export function stateOf(loaded: LoadedRecord | null): WorkspaceState | null {
  if (loaded === null) return null;
  const { body, version } = loaded.record;
  // An unreadable version is 0: a charge that confirmed it would find another one forever.
  if (version > 0 && isState(body)) return body;
  if (version > 0 && leaseTimesIn(body) !== null && !("state" in Object(body))) return null;
  throw corruptRecord("state of a workspace");
}

/** The lease times in the record of a state; null if no process ever had a lease. */
export function leaseTimesOf(loaded: LoadedRecord | null): LeaseTimes | null {
  return loaded === null ? null : leaseTimesIn(loaded.record.body);
}

/** The lease times in the body of a record; null if there are none, or they are damaged. */
function leaseTimesIn(body: unknown): LeaseTimes | null {
  const { leases } = Object(body) as { readonly leases?: unknown };
  const { grant, wait } = Object(leases) as Readonly<Record<string, unknown>>;
  return isSpan(grant) && isSpan(wait) ? { grant, wait } : null;
}

function isSpan(value: unknown): value is SpanMs {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_LEASE_MS;
}

const STATES: readonly unknown[] = ["incomplete", "moved", "open", "deleting"];

function isState(body: unknown): body is WorkspaceState {
  const { state, transfer, source, trail } = Object(body) as Readonly<Record<string, unknown>>;
  if (typeof transfer !== "string") return false;
  if (state === "followed") return typeof trail === "string" && parseWhole(trail) !== null;
  return STATES.includes(state) && (source === undefined || typeof source === "string");
}

/** The record of a state; null for an open workspace with `leases`. Write it with a new revision, so that other processes notice it. */
export function stateRecord(
  state: WorkspaceState | null,
  version: number,
  leases: LeaseTimes | null,
): StoredRecord {
  const body = { ...state, ...(leases !== null && { leases }) } as unknown as JsonValue;
  return { ...STATE_ADDRESS, version, link: null, body };
}

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
    return { ...noteOf(name, trail), link: null, body };
  });
  return {
    ...change,
    puts: [...change.puts, ...records.map((record) => ({ record }))],
    enters: [...change.enters, ...records.map(({ id }) => ({ list: trailList(trail), id }))],
  };
}

/** The record of a trail that names a record or a window. `name`: as {@link nameOf} returns it. */
function noteOf(name: string, trail: string) {
  return { kind: "workspace", id: `$trail.${trail}.${sha256Text(name)}`, version: 1 } as const;
}

/** The records of a trail that name what a plan takes from. A charge confirms them: a failover may have lost them. */
export function notesOf(plan: ChargePlan, trail: string): Expectation[] {
  const taken = touchedBy({ ...plan, counts: undefined });
  return taken.map((each) => noteOf(nameOf(each), trail));
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
