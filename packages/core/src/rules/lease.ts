import type { EpochMs, SpanMs } from "../time.js";
import { durationMs } from "./duration.js";

/** Shortest and longest lease, in ms. */
const MIN_LEASE_MS = 10;
export const MAX_LEASE_MS = 10_000;

/**
 * Which part of its time a lease is used: clocks may then run up to 11 % too fast or too slow, each in its own way, and a lease still ends
 * before a change that waits for it resolves. 0.8 is less than (1 - 0.11) / (1 + 0.11).
 */
const USED_PART = 0.8;

/** The clocks of a process, read one after the other. */
export interface Clocks {
  /** Ms since some instant, of a clock that nobody sets. */
  readonly steady: number;
  /** Unix epoch ms, of a clock that goes on while the machine sleeps. */
  readonly wall: EpochMs;
}

/** Whether a lease still holds. @param since - Read before the store was asked for it. */
export function isLeaseAlive(since: Clocks, now: Clocks, ms: SpanMs): boolean {
  const end = ms * USED_PART;
  return now.steady - since.steady < end && now.wall - since.wall < end;
}

/** The length of a lease that an option gives. @throws TypeError naming what is wrong: a misspelt option must not become none. */
export function readLeaseMs(leases: unknown): SpanMs {
  if (typeof leases !== "object" || leases === null)
    throw new TypeError('"leases" must be { ms }, or { ms, share }');
  const unknown = Object.keys(leases).find((name) => name !== "ms" && name !== "share");
  if (unknown !== undefined) throw new TypeError(`"leases.${unknown}" is not an option`);
  const { ms, share = 0 } = leases as { readonly ms?: unknown; readonly share?: unknown };
  if (typeof share !== "number" || !(share >= 0 && share <= 1))
    throw new TypeError('"leases.share" must be a number from 0 to 1');
  const length = durationMs(ms);
  if (length !== null && length >= MIN_LEASE_MS && length <= MAX_LEASE_MS) return length;
  throw new TypeError(
    `"leases.ms" must be a whole number from ${MIN_LEASE_MS} to ${MAX_LEASE_MS}, or a text such as "1s"`,
  );
}
