import type { z } from "zod";
import { unmet } from "../errors.js";
import type { Duration } from "../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes } from "../rules/latchkey-types.js";
import type { TokenSigner } from "../secrets/token-signer.js";
import type { EpochMs } from "../time.js";
import type { ValidVerdict, VerifyOutcome } from "../verification/verdict.js";
import type { OperationContext } from "./context.js";
import { anyText, text } from "./input.js";
import { operation, type TableOf } from "./operation.js";
import { spanBetween } from "./time-input.js";
import { requestIn, type VerifyKeyInput, verifyKeyInput } from "./verify-key/input.js";
import { EVERY_API, type VerifyScope } from "./verify-key/operations.js";
import { verifySecret } from "./verify-key/verify-key.js";

/** Input of exchangeKey: the input of a verification, and the audience and the lifetime of the token. */
export type ExchangeKeyInput<Types extends LatchkeyTypes = DefaultTypes> = Omit<
  VerifyKeyInput<Types>,
  "dryRun"
> & {
  /** `aud` of the token: who accepts it. 1 to 256 characters. */
  readonly audience: string;
  /** How long the token is valid: whole ms from 1,000 to 900,000, or a text such as `"30s"`. Default: `"5m"`. */
  readonly ttl?: Duration | undefined;
};

/** The verdict on a key, with a token if it is `VALID`: switch on `code`. */
export type ExchangeOutcome<Types extends LatchkeyTypes = DefaultTypes> =
  | (ValidVerdict<Types> & {
      /** A JWT, signed with EdDSA. Anyone who has it can act as the key until it expires. */
      readonly token: string;
      /** Unix epoch ms, in whole seconds, at which the token expires: never later than the key. */
      readonly tokenExpiresAt: EpochMs;
    })
  | Exclude<VerifyOutcome<Types>, ValidVerdict<Types>>;

export interface TokenOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Verifies and charges a key like verifyKey. If the verdict is `VALID`, signs a short-lived token that others can check with the public
   * keys of `jwks()`. `sub` is the id of the identity, or of the key if it has none, `client_id` the id of the key, `scope` the names of
   * its permissions.
   *
   * A token cannot be revoked: it stays valid until it expires, even if its key is revoked.
   *
   * @throws LatchkeyError like verifyKey; `PRECONDITION_FAILED` without `tokens`, or if `jose` is not installed; nothing is taken then.
   * @example
   * const verdict = await latchkey.exchangeKey({ key, audience: "https://tides.example", ttl: "5m" });
   * if (verdict.code === "VALID") console.log(verdict.token);
   */
  exchangeKey(input: ExchangeKeyInput<Types>, scope?: VerifyScope): Promise<ExchangeOutcome<Types>>;
}

const DEFAULT_TTL_MS = 300_000;

const exchangeInput = verifyKeyInput.omit({ dryRun: true }).extend({
  audience: text(1, 256),
  ttl: spanBetween(1_000, 900_000, "from 1,000 to 900,000 ms").default(DEFAULT_TTL_MS),
});

const libraryInput = exchangeInput.extend({ key: anyText });

export const TOKEN_TABLE = {
  exchangeKey: { input: exchangeInput, run: operation(libraryInput, exchange).run },
} satisfies TableOf<TokenOperations>;

async function exchange(
  context: OperationContext,
  wanted: z.output<typeof libraryInput>,
  scope: VerifyScope = EVERY_API,
): Promise<ExchangeOutcome> {
  const signer = requireSigner(context);
  // Before anything is taken: without a working signer, nothing may be charged.
  await signer.ready();
  const verdict = await verifySecret(context, requestIn(wanted), scope);
  return verdict.code === "VALID" ? withToken(context, signer, verdict, wanted) : verdict;
}

/** @throws LatchkeyError `PRECONDITION_FAILED` if no keys for tokens are configured. */
export function requireSigner({ tokens }: Pick<OperationContext, "tokens">): TokenSigner {
  if (tokens !== null) return tokens;
  throw unmet("no-token-keys", 'no keys for tokens are configured: see "tokens" of createLatchkey');
}

async function withToken(
  { workspaceId, now }: OperationContext,
  signer: TokenSigner,
  verdict: ValidVerdict,
  { audience, ttl }: Pick<z.output<typeof libraryInput>, "audience" | "ttl">,
) {
  const { keyId, permissions, identity, expires = Number.POSITIVE_INFINITY } = verdict;
  const at = now();
  const exp = inSeconds(Math.min(at + ttl, expires));
  const token = await signer.sign({
    iss: signer.issuer ?? workspaceId,
    sub: identity?.id ?? keyId,
    aud: audience,
    client_id: keyId,
    ...(permissions.length > 0 && { scope: permissions.join(" ") }),
    iat: inSeconds(at),
    exp,
  });
  return { ...verdict, token, tokenExpiresAt: exp * 1_000 };
}

function inSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
