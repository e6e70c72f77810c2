import { hash } from "node:crypto";
import {
  type ChargeMoment,
  type ChargePlan,
  corruptRecord,
  type EpochMs,
  isWhole,
  KEPT_AFTER_END_MS,
  type RateWindow,
  type RememberedCharge,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";

/**
 * The name under which the request of a charge is remembered, beside the first record of its plan; null for a charge without
 * one. A digest, so that it tells nothing of a record that was deleted. Names of windows have no space.
 */
export function requestName({ confirms: [beside] }: ChargePlan, { request }: ChargeMoment) {
  if (request === undefined) return null;
  return ` ${hash("sha256", `${beside?.kind} ${beside?.id} ${request.id}`, "base64url")}`;
}

/** Whether this store can have written it. */
export const isWindow = ({ startedAt, used }: RateWindow) => isWhole(startedAt) && isWhole(used);

/** Whether this store can have written it. */
export const isRequest = ({ fingerprint, until, result }: RememberedCharge) =>
  typeof fingerprint === "string" && isWhole(until) && Array.isArray(result.limits);

/** @throws LatchkeyError `STORE_CORRUPT` when the row is not one that could have been written. */
export function findExpiring<Value>(
  { run }: Connection,
  workspace: number,
  name: string,
  isWritten: (value: Value) => boolean,
): Value | null {
  const row = run.expiring.get(workspace, name);
  if (row === undefined) return null;
  try {
    const value = JSON.parse(row[0] as string) as Value;
    if (isWritten(value)) return value;
  } catch {
    // As if it said something else.
  }
  throw corruptRecord("window or request");
}

/**
 * Keeps a window or a request until a day after its end, and forgets two that ended earlier: by the machine's clock, which is the same
 * for every process on the file, however far ahead or behind the caller's is.
 */
export function keepExpiring(
  { run }: Connection,
  workspace: number,
  name: string,
  until: EpochMs,
  value: RateWindow | RememberedCharge,
  now: EpochMs,
): void {
  const here = Date.now();
  for (const ended of run.ended.all(here - KEPT_AFTER_END_MS)) run.forget.run(...ended);
  run.keepExpiring.run(workspace, name, here + until - now, JSON.stringify(value));
}
