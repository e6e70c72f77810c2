import { customRandom } from "nanoid";
import type { EpochMs } from "../time.js";
import { BASE58_ALPHABET, encodeFixedWidth } from "./base58.js";

/** Prefix of an id: `key_…`, `id_…`. */
export type IdKind =
  | "key"
  | "id"
  | "api"
  | "ws"
  | "role"
  | "perm"
  | "req"
  | "root"
  | "evt"
  | "rsv"
  | "lse"
  | "ans"
  | "ps";

/** Returns `size` unpredictable bytes from a cryptographically secure source. */
export type RandomBytes = (size: number) => Uint8Array;

/** Makes ids that sort in the order they were made. */
export type IdFactory = (kind: IdKind) => string;

const INSTANT_WIDTH = 9;
const SEQUENCE_WIDTH = 3;
const SEQUENCES_PER_MS = 58 ** SEQUENCE_WIDTH;
/** 14 base58 characters: 82 random bits. */
const RANDOM_WIDTH = 14;

/**
 * Makes ids of the form `<kind>_<instant><sequence><random>`.
 *
 * Instant (9 characters, ms) and sequence (3) have a fixed width in an ASCII-ordered alphabet, so ids sort by creation. After 195,112 ids
 * in one millisecond, the next one uses the following millisecond. The last 14 characters have 82 random bits, so that ids of several
 * processes do not collide.
 */
export function createIdFactory(now: () => EpochMs, random: RandomBytes): IdFactory {
  const randomPart = customRandom(BASE58_ALPHABET, RANDOM_WIDTH, random);
  let instant = 0;
  let sequence = 0;
  /** The encoded instant: many ids are made in one millisecond. */
  let written = encodeFixedWidth(instant, INSTANT_WIDTH);
  return (kind) => {
    const current = now();
    if (current > instant) {
      instant = current;
      sequence = 0;
      written = encodeFixedWidth(instant, INSTANT_WIDTH);
    } else {
      sequence += 1;
      if (sequence === SEQUENCES_PER_MS) {
        instant += 1;
        sequence = 0;
        written = encodeFixedWidth(instant, INSTANT_WIDTH);
      }
    }
    return `${kind}_${written}${encodeFixedWidth(sequence, SEQUENCE_WIDTH)}${randomPart()}`;
  };
}

/** A text that all ids made at this instant or later sort above, and all earlier ones below. `at`: below 58^9. */
export function lowestIdAt(kind: IdKind, at: EpochMs): string {
  return `${kind}_${encodeFixedWidth(at, INSTANT_WIDTH)}`;
}
