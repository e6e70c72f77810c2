import { corruptRecord } from "../errors.js";
import type { JsonValue } from "../lib/json.js";
import { parseWhole } from "../lib/whole.js";
import type { StoredRecord } from "../records/stored-record.js";
import { MAX_LEASE_MS } from "../rules/lease.js";
import type { SpanMs } from "../time.js";
import type { RecordAddress } from "./change.js";
import type { LoadedRecord } from "./key-store.js";

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

/**
 * The state that a record holds; null without a record: the workspace is open.
 *
 * @throws LatchkeyError `STORE_CORRUPT` if it is damaged.
 */
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

/**
 * The record of a state. `state`: null for an open workspace that has `leases`. Write it with a new revision, so that other processes
 * notice it.
 */
export function stateRecord(
  state: WorkspaceState | null,
  version: number,
  leases: LeaseTimes | null,
): StoredRecord {
  const body = { ...state, ...(leases !== null && { leases }) } as unknown as JsonValue;
  return { ...STATE_ADDRESS, version, link: null, body };
}
