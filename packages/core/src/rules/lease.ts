import { assertOption, nestedOptions } from "../lib/options.js";
import type { EpochMs, SpanMs } from "../time.js";
import { durationMs } from "./duration.js";

/** Shortest and longest lease, in ms. */
const MIN_LEASE_MS = 10;
export const MAX_LEASE_MS = 10_000;

/**
 * The part of its time for which a process uses a lease. Each clock may then run up to 11 % too fast or too slow, and the lease still ends
 * before a change that waits for it resolves: 0.8 is less than (1 - 0.11) / (1 + 0.11).
 */
const USED_PART = 0.8;

/** The clocks of a process, read one after the other. */
export interface Clocks {
  /** Ms since some instant, by a monotonic clock. */
  readonly steady: number;
  /** Unix epoch ms, by a clock that keeps running while the machine sleeps. */
  readonly wall: EpochMs;
}

/** Whether a lease still holds. `since`: the clocks before the store was asked for the lease. */
export function isLeaseAlive(since: Clocks, now: Clocks, ms: SpanMs): boolean {
  const end = ms * USED_PART;
  return now.steady - since.steady < end && now.wall - since.wall < end;
}

/** Units that must be left in a counter for each process that holds some of them. With fewer, nothing is taken ahead. */
const LEAST_LEFT = 100;

const DEFAULT_SHARE = 0.01;

/**
 * For how many verifications of `each` units a process may take units of a counter ahead, so that it never holds more than its share.
 *
 * @param left - Units left in the counter, without the held ones.
 * @param holders - How many processes hold units, this one included.
 */
export function verificationsAhead(
  left: number,
  each: number,
  held: number,
  share: number,
  holders: number,
): number {
  if (left < LEAST_LEFT * holders) return 0;
  return Math.max(0, Math.floor((Math.floor(left / Math.ceil(1 / share)) - held) / each));
}

export interface LeaseSettings {
  readonly ms: SpanMs;
  /** The largest part of a counter's remaining units that it takes ahead: from 0 to 1. */
  readonly share: number;
}

/** Reads the option `leases`. @throws TypeError naming what is wrong: a misspelt option must not be ignored. */
export function readLeases(leases: unknown): LeaseSettings {
  const options = nestedOptions("leases", leases, ["ms", "share"], "{ ms }, or { ms, share }");
  const { share = DEFAULT_SHARE } = options;
  const isShare = typeof share === "number" && share >= 0 && share <= 1;
  assertOption(isShare, '"leases.share" must be a number from 0 to 1');
  const ms = durationMs(options.ms);
  assertOption(
    ms !== null && ms >= MIN_LEASE_MS && ms <= MAX_LEASE_MS,
    `"leases.ms" must be a whole number from ${MIN_LEASE_MS} to ${MAX_LEASE_MS}, or a text such as "1s"`,
  );
  return { ms, share };
}
