import type { RandomBytes } from "../lib/id.js";

/** Random bytes of a version: 2^48 numbers. */
const SIZE = 6;

/**
 * Draws the version of a changed record, or the revision of a workspace. No two states share one, even if a store loses a write and
 * continues from the state before. A new record starts with 1, under a new id.
 *
 * @param before - The previous one: 0 or more.
 * @returns A whole number from 2 to 2^48 + 2, different from `before`.
 * @see packages/core/decisions/0033-versions-are-drawn.md
 */
export function drawVersion(random: RandomBytes, before: number): number {
  let drawn = 0;
  for (const byte of random(SIZE)) drawn = drawn * 256 + byte;
  drawn += 2;
  return drawn === before ? drawn + 1 : drawn;
}
