/**
 * Named keys of 32 bytes or more, one of which is used for what is written from now on. The others stay
 * readable, so that a ring can be rotated.
 */
export interface KeyRing {
  /** Id of the key that new entries are written with. */
  readonly current: string;
  /** Keys by id. An id has 1 to 32 characters of `A-Z a-z 0-9 _ -`. */
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

/** How long each key of a ring must be, in bytes. */
export interface KeyRingBounds {
  readonly minBytes: number;
  readonly maxBytes: number;
}

const RING_KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/**
 * Checks a ring and copies it, so that a later change to the given object changes nothing.
 *
 * @param name - The option the ring was given as, for messages.
 * @throws TypeError naming the option and what is wrong: an id, a length, a key of one repeated byte, a
 * `current` that is not in the ring. No message holds key material.
 */
export function copyKeyRing(
  name: string,
  ring: KeyRing,
  bounds: KeyRingBounds,
): ReadonlyMap<string, Uint8Array> {
  const copy = new Map<string, Uint8Array>();
  for (const [id, key] of Object.entries(ring.keys)) {
    if (!RING_KEY_ID.test(id)) {
      throw new TypeError(`"${name}.keys" ids must be 1 to 32 characters of A-Z a-z 0-9 _ -`);
    }
    if (
      !(key instanceof Uint8Array) ||
      key.length < bounds.minBytes ||
      key.length > bounds.maxBytes
    ) {
      throw new TypeError(`"${name}.keys.${id}" must be ${describeBounds(bounds)} bytes`);
    }
    if (key.every((byte) => byte === key[0])) {
      throw new TypeError(`"${name}.keys.${id}" must be random, not one repeated byte`);
    }
    copy.set(id, Uint8Array.from(key));
  }
  if (!copy.has(ring.current))
    throw new TypeError(`"${name}.current" must be the id of a key in "${name}.keys"`);
  return copy;
}

/**
 * Refuses two rings that have a key in common: whoever learns the one secret must not have the other.
 *
 * @throws TypeError naming both keys, never what they hold.
 */
export function refuseSharedKeys(
  [name, ring]: readonly [name: string, ring: KeyRing],
  [otherName, other]: readonly [name: string, ring: KeyRing],
): void {
  for (const [id, key] of Object.entries(ring.keys))
    for (const [otherId, otherKey] of Object.entries(other.keys))
      if (key.length === otherKey.length && key.every((byte, index) => byte === otherKey[index]))
        throw new TypeError(
          `"${name}.keys.${id}" must not be the same bytes as "${otherName}.keys.${otherId}"`,
        );
}

function describeBounds({ minBytes, maxBytes }: KeyRingBounds): string {
  return minBytes === maxBytes ? `${minBytes}` : `${minBytes} to ${maxBytes}`;
}
