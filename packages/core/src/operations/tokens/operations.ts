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

/** Input of exchangeKey: what a verification takes, for whom the token is, and for how long it is good. */
export type ExchangeKeyInput<Types extends LatchkeyTypes = DefaultTypes> = Omit<
  VerifyKeyInput<Types>,
  "dryRun"
> & {
  /** `aud` of the token: who is to accept it. 1 to 256 characters. */
  readonly audience: string;
  /** For how long the token is good: whole ms from 1,000 to 900,000, or a text such as `"30s"`; `"5m"` unless given. */
  readonly ttl?: Duration | undefined;
};

/** The verdict on a key, with a token where it is `VALID`: switch over `code`. */
export type ExchangeOutcome<Types extends LatchkeyTypes = DefaultTypes> =
  | (ValidVerdict<Types> & {
      /** A JWT, signed EdDSA. Whoever has it is taken for the key until it runs out. */
      readonly token: string;
      /** Unix epoch ms at which the token runs out, in whole seconds; never after the key's own `expires`. */
      readonly tokenExpiresAt: EpochMs;
    })
  | UnknownVerdict
  | DisabledWorkspaceVerdict
  | RefusedVerdict<Types>;

/** Operations on tokens. */
export interface TokenOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Verifies as verifyKey does, charge included, and where the verdict is `VALID` signs a short token that others can check without asking: by
   * the public keys of `jwks()`. `sub` is the id of the identity, or of the key where it has none, `client_id` the id of the key, `scope` the
   * names of its permissions.
   *
   * A token cannot be called back: a key that is revoked is refused at once here, and its token is good until it runs out.
   *
   * @param scope - For whom it is done; everybody unless given.
   * @throws LatchkeyError as verifyKey; `PRECONDITION_FAILED` without `tokens`, or where `jose` is not installed: then nothing was taken.
   * @example
   * const verdict = await latchkey.exchangeKey({ key, audience: "https://tides.example", ttl: "5m" });
   * if (verdict.code === "VALID") console.log(verdict.token);
   */
  exchangeKey(input: ExchangeKeyInput<Types>, scope?: VerifyScope): Promise<ExchangeOutcome<Types>>;
}
