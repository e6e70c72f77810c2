import {
  type AppliedCharge,
  corruptRecord,
  type EpochMs,
  isWhole,
  KEPT_AFTER_END_MS,
  type LimitReading,
  type LimitState,
  parseLimitState,
  parseRememberedEnd,
  type RememberedCharge,
  type RememberedEnd,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";

/** @throws LatchkeyError `STORE_CORRUPT` if the row is damaged. */
export function findRequest(
  connection: Connection,
  workspace: number,
  name: string,
): RememberedCharge | null {
  return findExpiring(connection, workspace, name, (value) => {
    const { fingerprint, until, result } = value as RememberedCharge;
    const isValid = typeof fingerprint === "string" && isWhole(until) && isApplied(result);
    return isValid ? (value as RememberedCharge) : null;
  });
}

const KINDS: readonly unknown[] = ["charged", "rate-limited", "usage-exceeded"];

function isApplied({ kind, remaining, limits }: AppliedCharge): boolean {
  const isLeft = remaining === null || isWhole(remaining);
  return KINDS.includes(kind) && isLeft && Array.isArray(limits) && limits.every(isReading);
}

/** Readings from before there were other algorithms have no state. */
function isReading({ name, limit, remaining, resetAt, exceeded, state }: LimitReading): boolean {
  return (
    typeof name === "string" &&
    typeof exceeded === "boolean" &&
    [limit, remaining].every(isWhole) &&
    // Not whole: it may lie beyond the last safe number. JSON of a damaged file may have a number without an end, such as 1e999.
    Number.isFinite(resetAt) &&
    (state === undefined || isState(state))
  );
}

function isState({ at, used, earlier }: LimitState): boolean {
  return isWhole(at) && isWhole(used) && Array.isArray(earlier) && earlier.every(isWhole);
}

/** @throws LatchkeyError `STORE_CORRUPT` if the row is damaged. */
export function findWindow(
  connection: Connection,
  workspace: number,
  name: string,
): LimitState | null {
  return findExpiring(connection, workspace, name, (value) => {
    // Windows from before there were other algorithms are objects.
    const { startedAt, used } = Object(value) as { startedAt?: number; used?: number };
    return parseLimitState(typeof value === "string" ? value : `${startedAt}:${used}`);
  });
}

function findExpiring<Value>(
  { run }: Connection,
  workspace: number,
  name: string,
  read: (value: unknown) => Value | null,
): Value | null {
  const row = run.expiring.get(workspace, name);
  if (row === undefined) return null;
  let found: Value | null = null;
  try {
    found = read(JSON.parse(row[0] as string));
  } catch {
    // Treated as damaged below.
  }
  if (found === null) throw corruptRecord("window or request");
  return found;
}

/** The remembered end of a hold. @throws LatchkeyError `STORE_CORRUPT` if the row is damaged. */
export function findEnd(
  connection: Connection,
  workspace: number,
  id: string,
): RememberedEnd | null {
  return findExpiring(connection, workspace, endName(id), (value) =>
    parseRememberedEnd(id, String(value)),
  );
}

/** The name of the end of a hold. Names of windows contain no space, and digests of requests no colon. */
export function endName(id: string): string {
  return ` hold:${id}`;
}

/**
 * Keeps a value until a day after its end, and deletes at most two whose day is over: by the machine's clock, which is the same for every
 * process on the file, however far ahead or behind the caller's is.
 *
 * @param until - Unix epoch ms by the clock of the caller, like `now`.
 */
export function keepExpiring(
  connection: Connection,
  workspace: number,
  name: string,
  until: EpochMs,
  value: string | RememberedCharge,
  now: EpochMs,
): void {
  const machineNow = Date.now();
  const endsAt = machineNow + until - now;
  forgetTwo(connection, machineNow - KEPT_AFTER_END_MS);
  connection.run.keepExpiring.run(workspace, name, endsAt, JSON.stringify(value));
  connection.firstEndAt = Math.min(connection.firstEndAt, endsAt);
}

/**
 * Deletes at most two values that ended before `before`. Skips the query while there can be none, so that the end of a reservation takes
 * one statement less.
 */
function forgetTwo(connection: Connection, before: EpochMs): void {
  if (connection.firstEndAt >= before) return;
  const { run } = connection;
  const rows = run.firstEnds.all();
  const left = rows.find(([, , endsAt]) => (endsAt as EpochMs) >= before);
  for (const [workspace, name, endsAt] of rows)
    if ((endsAt as EpochMs) < before) run.forget.run(workspace, name);
  if (left !== undefined) connection.firstEndAt = left[2] as EpochMs;
  else if (rows.length < 2) connection.firstEndAt = Number.MAX_SAFE_INTEGER;
}
