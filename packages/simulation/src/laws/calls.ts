import { LatchkeyError, type VerifyOutcome } from "@latchkey/core";
import { type Call, returnedBy } from "../history.js";
import { hasOtherClocks } from "../plan/plan.js";
import type { World } from "../world/world.js";
import { areRemembered } from "./repeated-writes.js";

/** Law: each call of a living process ends. */
export function callsSettle(world: World): string | null {
  const pending = world.calls.find(({ outcome }) => outcome.kind === "pending");
  return pending === undefined ? null : `#${pending.index} ${pending.action} never settled`;
}

/** Law: every failure is an error of latchkey's own, and has a cause in the schedule. */
export function errorsAreExpected(world: World): string | null {
  if (world.unhandled.length > 0) return `nobody heard of ${String(world.unhandled[0])}`;
  for (const call of world.calls) {
    const { index, action, args, outcome, startTick } = call;
    if (outcome.kind !== "failed") continue;
    const { error } = outcome;
    if (args.isInherited === true && error instanceof TypeError) continue;
    if (!(error instanceof LatchkeyError)) return `#${index} ${action}: ${String(error)}`;
    const { code } = error;
    const isUnexpected =
      code === "INTERNAL_SERVER_ERROR" ||
      (code === "STORE_CORRUPT" && !world.hasDamaged) ||
      (code === "STORE_UNAVAILABLE" &&
        (world.isCalm || startTick > world.restTick) &&
        // Between two reads of the call, its idempotency key may be forgotten.
        (args.idempotencyKey === undefined || areRemembered(world, call)));
    if (isUnexpected) return `#${index} ${action}: ${code} ${error.message}`;
  }
  return null;
}

type Verdict = VerifyOutcome & { readonly remaining: number; readonly reservationId?: string };

/** The question of a verification or reservation, as text, with the default address if none was given. */
function questionOf({ action, args }: Call): string {
  return JSON.stringify({ action, ipAddress: "192.0.2.1", ...args, againBy: undefined });
}

const HAS_REQUEST_ID: ReadonlySet<string> = new Set(["verify", "reserve"]);

/** A request is remembered for ten minutes. Calls take some time, and so does deleting what is over. */
const [SURELY_REMEMBERED_MS, SURELY_FORGOTTEN_MS] = [500_000, 700_000];

/** Law: as long as a request is remembered, its repeat gets the same verdict and the same reservation. */
export function repeatsAreAlike(world: World): string | null {
  // Request ids stay behind when keys move. How long a request is remembered depends on the clocks, which must agree.
  const hasMoved = world.plan.steps.some(({ action }) => action === "moveStore");
  if (world.losses.length > 0 || hasMoved || hasOtherClocks(world.plan)) return null;
  for (const call of world.calls) {
    const { requestId } = call.args;
    if (!HAS_REQUEST_ID.has(call.action) || requestId === undefined) continue;
    const verdict = returnedBy<Verdict>(call);
    if (verdict.code !== "VALID") continue;
    const isSameRequest = ({ key, args }: Call) => key === call.key && args.requestId === requestId;
    // A repeat does not prolong how long a request is remembered: that counts from the first, whatever became of its answer.
    const first = world.calls.find(
      (one) => isSameRequest(one) && call.startAt - one.startAt <= SURELY_FORGOTTEN_MS,
    );
    for (const other of world.calls.slice(call.index + 1)) {
      if (!isSameRequest(other)) continue;
      if (other.endAt - (first ?? call).startAt > SURELY_REMEMBERED_MS) continue;
      const { code, remaining, reservationId } = returnedBy<Verdict>(other);
      if (questionOf(other) !== questionOf(call)) {
        const isCharged = code === "VALID" || code === "USAGE_EXCEEDED" || code === "RATE_LIMITED";
        if (isCharged && other.startTick > call.endTick)
          return `#${other.index} asks another question than #${call.index} under its request id`;
        continue;
      }
      if (code !== "VALID") continue;
      if (remaining !== verdict.remaining || reservationId !== verdict.reservationId)
        return `#${other.index} repeats #${call.index}, and took again`;
    }
  }
  return null;
}

/** Law: no answer in one workspace contains an id of another. */
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
