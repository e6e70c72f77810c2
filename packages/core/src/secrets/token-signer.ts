import { unmet } from "../errors.js";
import { encodeBase64Url } from "../lib/bytes.js";
import { copyKeyRing, type KeyRing } from "./key-ring.js";

/** Ed25519 keys that sign tokens, each a seed of 32 random bytes. The public keys of all of them are published. */
export interface TokenKeyRing extends KeyRing {
  /** `iss` of the tokens: 1 to 256 characters. Default: the id of the workspace. */
  readonly issuer?: string | undefined;
}

/** A public key to check tokens with, as in RFC 8037. */
export interface TokenPublicKey {
  /** Octet key pair. */
  readonly kty: "OKP";
  /** The curve. */
  readonly crv: "Ed25519";
  /** The public key in base64url. */
  readonly x: string;
  /** Id in the ring of `tokens`. */
  readonly kid: string;
  /** Signature algorithm. */
  readonly alg: "EdDSA";
  /** For signatures. */
  readonly use: "sig";
}

/** A JWK Set, as in RFC 7517. */
export interface TokenKeySet {
  /** In the order of the ring. Not readonly, so that `jose` accepts it. */
  readonly keys: TokenPublicKey[];
}

/** Signs tokens with the library `jose`, which is loaded when it is first needed. */
export type TokenSigner = ReturnType<typeof createTokenSigner>;

type Jose = Pick<typeof import("jose"), "SignJWT" | "importPKCS8" | "exportJWK">;

/** The bytes before the seed of an Ed25519 key in PKCS #8 (RFC 8410 section 7). */
const PKCS8_PREFIX = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/** Checks a ring, and makes a signer of it. `load`: loads `jose`; for tests. @throws TypeError for a malformed ring. */
export function createTokenSigner(ring: TokenKeyRing, load?: () => Promise<Jose>) {
  const seeds = copyKeyRing("tokens", ring, { minBytes: 32, maxBytes: 32 });
  const { current: kid, issuer = null } = ring;
  if (issuer !== null && (typeof issuer !== "string" || !/^.{1,256}$/su.test(issuer)))
    throw new TypeError('"tokens.issuer" must be a string of 1 to 256 characters');
  let loading: ReturnType<typeof loadKeys> | null = null;

  async function importJose(): Promise<Jose> {
    // `try` tells some bundlers that `jose` may be missing, `catch` tells others; they then build without it.
    try {
      return await (load?.() ?? import("jose").catch(sayIfMissing));
    } catch (error) {
      return sayIfMissing(error);
    }
  }

  async function loadKeys() {
    const jose = await importJose();
    const pairs = Array.from(seeds, async ([id, seed]) => {
      const secret = await jose.importPKCS8(pemOf(seed), "EdDSA", { extractable: true });
      const { x = "" } = await jose.exportJWK(secret);
      const known: TokenPublicKey = {
        kty: "OKP",
        crv: "Ed25519",
        x,
        kid: id,
        alg: "EdDSA",
        use: "sig",
      };
      return [id, { secret, known }] as const;
    });
    return { jose, pairs: new Map(await Promise.all(pairs)) };
  }

  /** Resolves once a token can be signed. @throws LatchkeyError `PRECONDITION_FAILED` if `jose` is not installed. */
  function ready(): ReturnType<typeof loadKeys> {
    // After a failure the next call tries again, in case `jose` was installed meanwhile.
    loading ??= loadKeys().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  }

  return {
    issuer,
    ready,
    /** A JWT (RFC 7519) with the current key. Errors as `ready`. */
    async sign(claims: Readonly<Record<string, string | number>>): Promise<string> {
      const { jose, pairs } = await ready();
      const { secret } = pairs.get(kid) as NonNullable<ReturnType<typeof pairs.get>>;
      return new jose.SignJWT({ ...claims })
        .setProtectedHeader({ alg: "EdDSA", kid, typ: "JWT" })
        .sign(secret);
    },
    /** Errors as `ready`. */
    async publicKeys(): Promise<TokenKeySet> {
      const { pairs } = await ready();
      return { keys: Array.from(pairs.values(), ({ known }) => known) };
    },
  };
}

function pemOf(seed: Uint8Array): string {
  const text = encodeBase64Url(Uint8Array.of(...PKCS8_PREFIX, ...seed));
  const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
  return `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----`;
}

/** @throws The error, or one that says how to install `jose` if that is what is missing. */
function sayIfMissing(error: unknown): never {
  throw isMissing(error) ? MISSING() : error;
}

function isMissing(error: unknown): boolean {
  const { code, message = "" } = Object(error) as { code?: unknown; message?: string };
  // Bundlers throw the second code.
  const isNotFound = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  return isNotFound && message.includes("'jose'");
}

const MISSING = () => unmet("driver-missing", "jose is not installed: run `npm install jose@6`");
