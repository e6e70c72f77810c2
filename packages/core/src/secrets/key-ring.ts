import { doesMatchBytes, isBytes } from "../lib/bytes.js";

/**
 * Named keys of 32 bytes or more. Everything is written with the current one; the others are only used to read, so that you can rotate
 * keys.
 */
export interface KeyRing {
  /** Id of the key that is used to write. */
  readonly current: string;
  /** Keys by id. An id has 1 to 32 characters of `A-Z a-z 0-9 _ -`. */
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

const RING_KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/** Checks a ring and copies it. @throws TypeError naming the option and what is wrong. No message holds key material. */
export function copyKeyRing(
  name: string,
  ring: KeyRing,
  { minBytes, maxBytes }: { readonly minBytes: number; readonly maxBytes: number },
): ReadonlyMap<string, Uint8Array> {
  const size = minBytes === maxBytes ? `${minBytes}` : `${minBytes} to ${maxBytes}`;
  const copy = new Map<string, Uint8Array>();
  for (const [id, key] of Object.entries(ring.keys)) {
    if (!RING_KEY_ID.test(id))
      throw new TypeError(`"${name}.keys" ids must be 1 to 32 characters of A-Z a-z 0-9 _ -`);
    if (!isBytes(key) || key.length < minBytes || key.length > maxBytes)
      throw new TypeError(`"${name}.keys.${id}" must be ${size} bytes`);
    if (key.every((byte) => byte === key[0]))
      throw new TypeError(`"${name}.keys.${id}" must be random, not one repeated byte`);
    copy.set(id, Uint8Array.from(key));
  }
  if (!copy.has(ring.current))
    throw new TypeError(`"${name}.current" must be the id of a key in "${name}.keys"`);
  return copy;
}

/** Refuses rings that share a secret: a key of the hashes must not open the vault or sign tokens. @throws TypeError naming both rings. */
export function refuseSharedSecrets(rings: Readonly<Record<string, KeyRing | undefined>>): void {
  const known: [name: string, key: Uint8Array][] = [];
  for (const [name, ring] of Object.entries(rings)) {
    const keys = Object.values(ring?.keys ?? {});
    for (const [other, key] of known)
      if (keys.some((secret) => doesMatchBytes(key, secret)))
        throw new TypeError(`"${other}" and "${name}" must not contain the same secret`);
    for (const key of keys) known.push([name, key]);
  }
}

/** Whether this has the form of a key ring. The keys are checked where they are used. */
export function isKeyRing(ring: unknown): boolean {
  if (typeof ring !== "object" || ring === null) return false;
  const { keys } = ring as { readonly keys?: unknown };
  return typeof keys === "object" && keys !== null;
}
