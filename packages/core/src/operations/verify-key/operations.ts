import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { DryRunOutcome } from "../../verification/dry-run.js";
import type { VerifiableKey } from "../../verification/loaded-key.js";
import type { VerifyOutcome } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import type { KeyView } from "../keys/view.js";
import type { ExplainKeyInput, VerifyKeyInput } from "./input.js";

/** For hosts that authorise callers themselves. */
export interface VerifyScope {
  /** Only keys of these APIs exist for this caller; all others are `NOT_FOUND`. Default: all APIs. */
  readonly apiIds?: readonly string[];
}

/** Every key of the workspace exists. */
export const EVERY_API: VerifyScope = Object.freeze({});

/** Whether a key exists for the caller of a verification. */
export function isVisible(
  { workspaceId }: OperationContext,
  { apiIds }: VerifyScope,
  { key }: Pick<VerifiableKey, "key">,
): boolean {
  return key.workspaceId === workspaceId && (apiIds === undefined || apiIds.includes(key.apiId));
}

/** What whoami returns about a key. Fields without a value are absent. */
export interface KeySummary<Types extends LatchkeyTypes = DefaultTypes>
  extends Pick<
    KeyView<Types>,
    "id" | "name" | "remaining" | "identity" | "meta" | "createdAt" | "enabled" | "environment"
  > {}

export interface SecretOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Returns the verdict that a verification would give, and why: every check with what it found. Takes and counts nothing, and emits no
   * event.
   *
   * @throws LatchkeyError as a verification would.
   * @example
   * const { code, checks } = await latchkey.verifyKey({ key, dryRun: true });
   */
  verifyKey(
    input: VerifyKeyInput<Types> & {
      /** Takes and counts nothing. */
      readonly dryRun: true;
    },
    scope?: VerifyScope,
  ): Promise<DryRunOutcome<Types>>;
  /**
   * Decides whether a secret is allowed to do what you ask, and takes the cost, in one atomic step. A refusal takes nothing. Concurrent
   * verifications admit exactly what was granted. Every verification that starts after a change has resolved sees the change, in any
   * process. A string that cannot be a secret, empty or too long, is `NOT_FOUND`. In a disabled workspace every other secret is
   * `FORBIDDEN`, even if no key has it.
   *
   * If a route checks the same for every key, `verifier` is faster.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a wrong input or an unknown limit, `CONFLICT` for a `requestId` that was used for another
   * question, `STORE_UNAVAILABLE` if the store does not answer: then there is no verdict.
   * @example
   * const verdict = await latchkey.verifyKey({ key, authorization: { permissions: "docs.read" } });
   * if (!verdict.valid) return new Response(null, { status: 401 });
   */
  verifyKey(input: VerifyKeyInput<Types>, scope?: VerifyScope): Promise<VerifyOutcome<Types>>;
  /**
   * A dry run of a verification by the id of the key, to find out why a key is refused without having its secret.
   *
   * @throws LatchkeyError `NOT_FOUND`, and as a verification would.
   * @example
   * const { code, checks } = await latchkey.explainKey({ keyId });
   */
  explainKey(input: ExplainKeyInput<Types>): Promise<DryRunOutcome<Types>>;
  /**
   * Finds the key of a secret, without a verdict. Charges nothing. A disabled, expired or used-up key is returned too, with `enabled`
   * false.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * const { id, enabled } = await latchkey.whoami({ key });
   */
  whoami(input: {
    /** The presented secret: 1 to 512 characters. */
    readonly key: string;
  }): Promise<KeySummary<Types>>;
}
