import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { DryRunOutcome } from "../../verification/dry-run.js";
import type { VerifiableKey } from "../../verification/loaded-key.js";
import type { VerifyOutcome } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import type { KeyView } from "../keys/view.js";
import type { ExplainKeyInput, VerifyKeyInput } from "./input.js";

/** For whom a verification is done. */
export interface VerifyScope {
  /** Only keys of these APIs exist for this caller; every other is `NOT_FOUND`. Omitted: all of the workspace. */
  readonly apiIds?: readonly string[];
}

/** Every key of the workspace exists. */
export const EVERY_API: VerifyScope = Object.freeze({});

/** Whether a key exists for whom a verification is done. */
export function isVisible(
  { workspaceId }: OperationContext,
  { apiIds }: VerifyScope,
  { key }: Pick<VerifiableKey, "key">,
): boolean {
  return key.workspaceId === workspaceId && (apiIds === undefined || apiIds.includes(key.apiId));
}

/** What whoami answers about a key. Fields without a value are absent. */
export interface KeySummary<Types extends LatchkeyTypes = DefaultTypes>
  extends Pick<
    KeyView<Types>,
    "id" | "name" | "remaining" | "identity" | "meta" | "createdAt" | "enabled" | "environment"
  > {}

/** Operations on a secret that is presented. */
export interface SecretOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Shows what a verification would answer, and why: every check with what it saw. Nothing is taken, counted or told to
   * listeners.
   *
   * @param scope - For whom it is asked; everybody unless given.
   * @throws LatchkeyError As a verification would.
   * @example
   * const { code, checks } = await latchkey.verifyKey({ key, dryRun: true });
   */
  verifyKey(
    input: VerifyKeyInput<Types> & {
      /** True: only asked. */
      readonly dryRun: true;
    },
    scope?: VerifyScope,
  ): Promise<DryRunOutcome<Types>>;
  /**
   * Decides whether a presented secret may do what is asked, and takes what that costs, in one atomic step. A refusal takes
   * nothing. Concurrent verifications admit exactly what was granted, and a change that has resolved is seen by every
   * verification that starts later, from any process. A string that cannot be a secret, empty or too long, is `NOT_FOUND`. In a
   * disabled workspace every other is `FORBIDDEN`, also one that no key has.
   *
   * A route that asks the same of every key is faster with `verifier`.
   *
   * @param scope - For whom it is done; everybody unless given.
   * @throws LatchkeyError `BAD_REQUEST` for a malformed question or a limit name that nothing configures, `CONFLICT` for a
   * `requestId` that was used for another question, `STORE_UNAVAILABLE` when the store cannot answer: never a verdict then.
   * @example
   * const verdict = await latchkey.verifyKey({ key, authorization: { permissions: "docs.read" } });
   * if (!verdict.valid) return new Response(null, { status: 401 });
   */
  verifyKey(input: VerifyKeyInput<Types>, scope?: VerifyScope): Promise<VerifyOutcome<Types>>;
  /**
   * The dry run of a verification by the id of the key: for whoever is asked why it was refused, and has no secret.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, and as a verification would.
   * @example
   * const { code, checks } = await latchkey.explainKey({ keyId });
   */
  explainKey(input: ExplainKeyInput<Types>): Promise<DryRunOutcome<Types>>;
  /**
   * Finds the key of a secret, without a verdict: nothing is charged, and a key that is switched off, expired or exhausted is
   * answered too, as not `enabled`.
   *
   * @throws LatchkeyError `NOT_FOUND` when no key of this workspace has the secret.
   * @example
   * const { id, enabled } = await latchkey.whoami({ key });
   */
  whoami(input: {
    /** The presented secret: 1 to 512 characters. */
    readonly key: string;
  }): Promise<KeySummary<Types>>;
}
