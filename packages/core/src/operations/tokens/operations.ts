import type { Duration } from "../../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { EpochMs } from "../../time.js";
import type {
  DisabledWorkspaceVerdict,
  RefusedVerdict,
  UnknownVerdict,
  ValidVerdict,
} from "../../verification/verdict.js";
import type { VerifyKeyInput } from "../verify-key/input.js";
import type { VerifyScope } from "../verify-key/operations.js";

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
  | UnknownVerdict
  | DisabledWorkspaceVerdict
  | RefusedVerdict<Types>;

/** Operations on tokens. */
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
