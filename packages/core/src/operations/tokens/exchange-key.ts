import { unmet } from "../../errors.js";
import type { TokenSigner } from "../../secrets/token-signer.js";
import type { ValidVerdict } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import { parseInput, text, unreadable } from "../input.js";
import type { TableOf } from "../operation.js";
import { spanBetween } from "../time-input.js";
import {
  anyText,
  requestIn,
  type VerificationRequest,
  verifyKeyInput,
} from "../verify-key/input.js";
import { EVERY_API, type VerifyScope } from "../verify-key/operations.js";
import { verifySecret } from "../verify-key/verify-key.js";
import type { ExchangeOutcome, TokenOperations } from "./operations.js";

/** Default lifetime of a token. */
const DEFAULT_TTL_MS = 300_000;

const exchangeInput = verifyKeyInput.omit({ dryRun: true }).extend({
  audience: text(1, 256),
  ttl: spanBetween(1_000, 900_000, "from 1,000 to 900,000 ms").default(DEFAULT_TTL_MS),
});

const libraryInput = exchangeInput.extend({ key: anyText });

/** What a token needs beside the verdict. */
interface TokenRequest {
  readonly audience: string;
  readonly ttl: number;
}

export const TOKEN_TABLE = {
  exchangeKey: {
    input: exchangeInput,
    run(context, input, scope = EVERY_API) {
      try {
        const parsed = parseInput(libraryInput, input);
        return exchange(context, requestIn(parsed), parsed, scope);
      } catch (error) {
        return Promise.reject(unreadable(error, input));
      }
    },
  },
} satisfies TableOf<TokenOperations>;

async function exchange(
  context: OperationContext,
  request: VerificationRequest,
  wanted: TokenRequest,
  scope: VerifyScope,
): Promise<ExchangeOutcome> {
  const signer = requireSigner(context);
  // Before anything is taken: without a working signer, nothing may be charged.
  await signer.ready();
  const verdict = await verifySecret(context, request, scope);
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
  { audience, ttl }: TokenRequest,
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
