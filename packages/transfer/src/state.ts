import { randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type Expectation,
  type KeyStore,
  LatchkeyError,
  leaseTimesOf,
  STATE_ADDRESS,
  stateOf,
  stateRecord,
  type WorkspaceState,
} from "@latchkey/core";
import { aChange } from "./records/changes.js";

/** The largest range of `randomInt`. */
const MAX_VERSION = 2 ** 47;

/** The state of a workspace, as read. */
export interface FoundState {
  /** Null: the workspace is open. */
  readonly state: WorkspaceState | null;
  /** Null if there is no record of it. */
  readonly version: number | null;
  /** Leases that processes hold in it. */
  readonly leases: LeaseTimes;
}

type LeaseTimes = ReturnType<typeof leaseTimesOf>;

export async function readState(store: KeyStore, workspaceId: string): Promise<FoundState> {
  const { found } = await store.read(workspaceId, [STATE_ADDRESS]);
  const [loaded = null] = found;
  const version = loaded?.record.version ?? null;
  return { state: stateOf(loaded), version, leases: leaseTimesOf(loaded) };
}

/** @throws LatchkeyError `STORE_UNAVAILABLE` if a workspace of a source cannot be read: it is incomplete, has moved, or is half deleted. */
export function assertUsed(workspaceId: string, state: WorkspaceState["state"]): void {
  if (state === "open" || state === "followed") return;
  throw new LatchkeyError("STORE_UNAVAILABLE", whyUnused(workspaceId, state), {
    outcome: "not-applied",
    reason: state,
  });
}

function whyUnused(workspaceId: string, state: "incomplete" | "moved" | "deleting"): string {
  switch (state) {
    case "incomplete":
      return `the source cannot be read: a copy or a restore to its workspace ${workspaceId} has not finished`;
    case "moved":
      return `the source cannot be read: the keys of its workspace ${workspaceId} have moved to another store`;
    case "deleting":
      return `the source cannot be read: its workspace ${workspaceId} is half deleted: let that finish, or call deleteWorkspace again`;
    default:
      return state satisfies never;
  }
}

/** What a change based on a state expects. */
export function expectState({ version }: FoundState): Expectation {
  return { ...STATE_ADDRESS, version };
}

/** Forbids new leases. Existing ones may last for another `wait` ms. */
export function endLeases(
  store: KeyStore,
  workspaceId: string,
  found: FoundState,
): Promise<FoundState> {
  const end = (leases: LeaseTimes) => leases && { ...leases, grant: 0 };
  return replaceState(store, workspaceId, found, found.state, end);
}

/**
 * Replaces the state that was read with another, or with none, in one atomic step. Every process learns of it from the revision.
 *
 * @param leasesAfter - Returns the new lease times. Default: unchanged.
 * @returns The state as it is now.
 * @throws LatchkeyError `CONFLICT` if it has changed since: somebody else is at work.
 */
export async function replaceState(
  store: KeyStore,
  workspaceId: string,
  before: FoundState,
  state: WorkspaceState | null,
  leasesAfter: (leases: LeaseTimes) => LeaseTimes = (leases) => leases,
): Promise<FoundState> {
  // Random, because a version that was used before could be mistaken for that earlier state.
  const version = randomInt(1, MAX_VERSION);
  const leases = leasesAfter(before.leases);
  const isGone = state === null && leases === null;
  const change = aChange({
    expects: [expectState(before)],
    puts: isGone ? [] : [{ record: stateRecord(state, version, leases) }],
    deletes: isGone ? [STATE_ADDRESS] : [],
    revision: randomInt(1, MAX_VERSION),
  });
  const result = await store.commit(workspaceId, change);
  if (result.kind === "committed") return { state, version: isGone ? null : version, leases };
  const now = await readState(store, workspaceId);
  if (isOnlyLeased(before, now)) return replaceState(store, workspaceId, now, state, leasesAfter);
  throw changedByAnother();
}

/**
 * Whether nothing but the lease times has changed between two reads of a state: a process that starts to lease writes them into its record.
 * If the same state was written again, another copy has taken over, or this one was taken back.
 */
export function isOnlyLeased(before: FoundState, now: FoundState): boolean {
  const isSame = isDeepStrictEqual(now.state, before.state);
  return isSame && !isDeepStrictEqual(now.leases, before.leases);
}

/** The error of a copy that finds a state which it did not write: another one, or a process that took it back, has; or a failover. */
export function changedByAnother(): LatchkeyError {
  return new LatchkeyError(
    "CONFLICT",
    "the state of a workspace was changed by another process, or lost in a failover: if no other copy is running, run it again",
  );
}
