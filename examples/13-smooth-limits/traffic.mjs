import { createLatchkey, memoryStore } from "latchkey";

/** Length of the traffic. */
export const LENGTH_MS = 180_000;
export const MINUTE_MS = 60_000;

/**
 * @typedef {{ readonly algorithm: "fixed" | "sliding" | "token-bucket", readonly limit: number, readonly duration: "1m", readonly burst?: number }} Limit
 * @typedef {{ readonly at: number, readonly admitted: boolean }} Decided
 */

/**
 * 60 a minute, with each algorithm.
 *
 * @type {readonly Limit[]}
 */
export const LIMITS = [
  { algorithm: "fixed", limit: 60, duration: "1m" },
  { algorithm: "sliding", limit: 60, duration: "1m" },
  { algorithm: "token-bucket", limit: 60, duration: "1m", burst: 20 },
];

/** Traffic of a client that knows the edge of the windows: 60 requests before and 60 after it, then more than allowed. */
export function requests() {
  const before = Array.from({ length: 60 }, (_, at) => 55_000 + Math.floor((at * 5_000) / 60));
  const behind = before.map((at) => at + 5_000);
  const steady = Array.from({ length: 148 }, (_, at) => 69_000 + at * 750);
  return [...before, ...behind, ...steady];
}

/**
 * Sends the traffic through a limit, on a clock that is set to each request.
 *
 * @param {Limit} limit
 * @returns For each request, its instant and whether it was admitted.
 */
export async function send(limit) {
  let now = 0;
  const latchkey = createLatchkey({ store: memoryStore(), clock: () => now });
  const decided = [];
  for (const at of requests()) {
    now = at;
    const { success } = await latchkey.limit({ identifier: "somebody", ...limit });
    decided.push({ at, admitted: success });
  }
  await latchkey.close();
  return decided;
}

/**
 * How many were admitted in the minute that ends at an instant: (end − 1 minute, end].
 *
 * @param {readonly Decided[]} decided
 * @param {number} end
 */
export function admittedInMinuteBefore(decided, end) {
  return decided.filter(({ at, admitted }) => admitted && at > end - MINUTE_MS && at <= end).length;
}
