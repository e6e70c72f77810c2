import type { RandomBytes } from "../lib/id.js";

/** Random bytes of a version: 2^48 numbers. */
const SIZE = 6;

/**
 * Draws the version of a record that was changed, or the revision of a workspace. No two states share one, also where a store
 * loses a write and goes on from the state before. A new record begins with 1, under an id that nothing had before.
 *
 * @param before - That of the state before: 0 or more.
 * @returns A whole number from 2 to 2^48 + 2, another one than before.
 * @see packages/core/decisions/0033-versions-are-drawn.md
 */
export function drawVersion(random: RandomBytes, before: number): number {
  let drawn = 0;
  for (const byte of random(SIZE)) drawn = drawn * 256 + byte;
  drawn += 2;
  return drawn === before ? drawn + 1 : drawn;
}
