import type { KeyRing, TokenKeyRing } from "@latchkey/core";

/** The key rings of an environment, to spread into the options of `createLatchkey`. */
export interface KeyRings {
  readonly vault?: KeyRing;
  readonly pepper?: KeyRing;
  readonly tokens?: TokenKeyRing;
}

/** Id of a key that is given without one. */
const ONLY_ID = "1";

/**
 * Reads the key rings from the environment: `LATCHKEY_VAULT_KEY` and `LATCHKEY_TOKEN_KEY` (keys of 32 bytes) and `LATCHKEY_PEPPER` (32 to
 * 64 bytes). Each has one key in base64, which gets the id `1`, or a list `id:base64,id:base64`, of which the first is current. Without the
 * variable, there is no ring. `LATCHKEY_TOKEN_ISSUER` is the `issuer` of `tokens`.
 *
 * @param env - Default: `process.env`.
 * @throws TypeError naming the variable and what is wrong, never the value. A variable that is set but empty is an error too, because
 * without its pepper a server would refuse all its keys.
 */
export function keyRingsFromEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
): KeyRings {
  const vault = readKeyRing(env, "LATCHKEY_VAULT_KEY", 32, 32);
  const pepper = readKeyRing(env, "LATCHKEY_PEPPER", 32, 64);
  const tokens = readKeyRing(env, "LATCHKEY_TOKEN_KEY", 32, 32);
  const issuer = env.LATCHKEY_TOKEN_ISSUER;
  if (issuer !== undefined && !/^.{1,256}$/su.test(issuer))
    throw new TypeError("LATCHKEY_TOKEN_ISSUER must have 1 to 256 characters: unset it, or set it");
  return {
    ...(vault !== null && { vault }),
    ...(pepper !== null && { pepper }),
    ...(tokens !== null && { tokens: { ...tokens, ...(issuer !== undefined && { issuer }) } }),
  };
}

function readKeyRing(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
  minBytes: number,
  maxBytes: number,
): KeyRing | null {
  const text = env[variable];
  if (text === undefined) return null;
  const bytes = minBytes === maxBytes ? `${minBytes} bytes` : `${minBytes} to ${maxBytes} bytes`;
  const refuse = (problem: string) => new TypeError(`${variable} ${problem}`);
  if (text.trim() === "") throw refuse(`is empty: unset it, or set it to ${bytes} in base64`);
  const entries = text.split(",").map((entry) => entry.trim());
  const keys = new Map<string, Uint8Array>();
  for (const [index, entry] of entries.entries()) {
    const colon = entry.indexOf(":");
    const where = entries.length === 1 ? "" : ` in entry ${index + 1}`;
    if (colon === -1 && entries.length > 1) throw refuse(`must give an id (id:base64)${where}`);
    const id = colon === -1 ? ONLY_ID : entry.slice(0, colon);
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) {
      throw refuse(`must have ids of 1 to 32 characters of A-Z a-z 0-9 _ -${where}`);
    }
    if (keys.has(id)) throw refuse(`must not give one id twice${where}`);
    const key = decodeBase64(entry.slice(colon + 1));
    if (key === null || key.length < minBytes || key.length > maxBytes) {
      throw refuse(`must hold ${bytes} in base64${where}`);
    }
    if (key.every((byte) => byte === key[0])) {
      throw refuse(`must be random, not one repeated byte${where}`);
    }
    keys.set(id, key);
  }
  const [current = ONLY_ID] = keys.keys();
  return { current, keys: Object.fromEntries(keys) };
}

/** At most two: a pattern for any number would backtrack over a long run of `=` from each position. */
const PADDING = /={1,2}$/;

/**
 * Decodes base64 of either alphabet, with or without padding; null for anything else. `Buffer` alone skips invalid characters.
 */
function decodeBase64(text: string): Uint8Array | null {
  const bare = text.replace(PADDING, "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Buffer.from(bare, "base64");
  return bytes.toString("base64").replace(PADDING, "") === bare ? Uint8Array.from(bytes) : null;
}
