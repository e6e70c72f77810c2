import { LatchkeyError, type VerifyOutcome } from "@latchkey/core";
import { returnedBy } from "../history.js";
import type { World } from "../world/world.js";

/** Errors that a correct caller never meets. */
const NEVER: ReadonlySet<string> = new Set(["INTERNAL_SERVER_ERROR", "STORE_CORRUPT"]);

/** Each call of a living process comes to an end. */
export function callsSettle(world: World): string | null {
  const pending = world.calls.find(({ outcome }) => outcome.kind === "pending");
  return pending === undefined ? null : `#${pending.index} ${pending.action} never settled`;
}

/** What fails says why, in an error of latchkey's own. */
export function errorsAreExpected(world: World): string | null {
  for (const { index, action, outcome } of world.calls) {
    if (outcome.kind !== "failed") continue;
    const { error } = outcome;
    if (!(error instanceof LatchkeyError)) return `#${index} ${action}: ${String(error)}`;
    if (NEVER.has(error.code)) return `#${index} ${action}: ${error.code} ${error.message}`;
  }
  return null;
}

/** The repeat of a request gets the verdict of the first, as long as it is remembered. */
export function repeatsAreAlike(world: World): string | null {
  if (world.losses.length > 0) return null;
  for (const call of world.calls) {
    const { requestId } = call.args;
    if (call.action !== "verify" || requestId === undefined) continue;
    const verdict = returnedBy<VerifyOutcome & { readonly remaining: number }>(call);
    if (verdict.code !== "VALID") continue;
    for (const other of world.calls.slice(call.index + 1)) {
      if (other.key !== call.key || other.args.requestId !== requestId) continue;
      if (other.action !== "verify" || other.endAt - call.startAt > 500_000) continue;
      if (JSON.stringify(other.args) !== JSON.stringify(call.args)) continue;
      const repeated = returnedBy<typeof verdict>(other);
      // Whether the clocks agree is for whoever sets them: a request is remembered by them.
      if (repeated.code !== "VALID" || hasOtherClocks(world)) continue;
      if (repeated.remaining !== verdict.remaining)
        return `#${other.index} repeats #${call.index}, and took again`;
    }
  }
  return null;
}

/** Whether the clocks of the processes differ, or were set. */
function hasOtherClocks({ plan }: World): boolean {
  return (
    plan.clockOffsets.some((offset) => offset !== 0) ||
    plan.steps.some(({ action }) => action === "setClock")
  );
}

/** Nothing of one workspace is told in another. */
export function workspacesAreApart(world: World): string | null {
  if (world.workspaces.length < 2) return null;
  for (const call of world.calls) {
    if (call.outcome.kind !== "returned") continue;
    const told = JSON.stringify(call.outcome.value) ?? "";
    for (const [index, { id, apiId }] of world.workspaces.entries()) {
      if (index === call.workspace) continue;
      const foreign = [
        id,
        apiId,
        ...world.keys.flatMap((key) => (key.workspace === index ? [key.keyId] : [])),
      ].find((name) => told.includes(`"${name}"`));
      if (foreign !== undefined) return `#${call.index} ${call.action} tells of ${foreign}`;
    }
  }
  return null;
}
