import type { DryRunOutcome } from "../../verification/dry-run.js";
import type { OperationContext } from "../context.js";
import { parseInput } from "../input.js";
import { getKeyById } from "../keys/load.js";
import { dryRun } from "./dry-run.js";
import { type ExplainKeyInput, explainKeyInput, questionOf } from "./input.js";
import { EVERY_API } from "./scope.js";

/**
 * The dry run of a verification of the key of this id, for whoever is asked why it was refused and does not have the secret.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, and as the verification would.
 * @see packages/core/decisions/0016-a-dry-run-leaves-no-trace.md
 */
export async function explainKey(
  context: OperationContext,
  input: ExplainKeyInput,
): Promise<DryRunOutcome> {
  const { keyId, ...question } = parseInput(explainKeyInput, input);
  return dryRun(context, () => getKeyById(context, keyId), questionOf(question), EVERY_API);
}
