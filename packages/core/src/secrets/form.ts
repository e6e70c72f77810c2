import { BYTE_LENGTH, PREFIX_PATTERN, splitSecret } from "./format.js";
import { shownBodies } from "./shown-start.js";

/** What a secret is written with, beside its random bytes. */
export interface SecretForm {
  /** Empty for none. */
  readonly prefix: string;
  /** 16 to 255. */
  readonly byteLength: number;
}

/**
 * The form of a secret, as far as its stored beginning shows it, so that another of the same form can be generated.
 *
 * The prefix is what stands before the last `_`, where that can be a prefix. The number of random bytes follows from the
 * beginning of the body, which carries it; where the few characters fit two lengths, which is so for some secrets of 136
 * to 145 bytes, it is the shorter one. The beginning of a secret that was made elsewhere fits none: then it is the default.
 *
 * @param start - As `secretStart` wrote it, or as it was given at the import of a key.
 */
export function secretForm(start: string): SecretForm {
  const { prefix, body } = splitSecret(start);
  return {
    prefix: PREFIX_PATTERN.test(prefix) ? prefix : "",
    byteLength: byteLengthOf(body) ?? BYTE_LENGTH.default,
  };
}

function byteLengthOf(shown: string): number | null {
  for (let length: number = BYTE_LENGTH.min; length <= BYTE_LENGTH.max; length += 1) {
    const { lowest, highest } = shownBodies(length);
    if (shown.length === lowest.length && lowest <= shown && shown <= highest) return length;
  }
  return null;
}
