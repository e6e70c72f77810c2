import type { LatchkeyError, ReportedLeaks, VerifyOutcome } from "@latchkey/core";
import { type Call, hasReturned, returnedBy } from "../history.js";
import type { VerifyArgs } from "../plan/actions.js";
import type { GuardedAnswer } from "../plan/guard-actions.js";
import type { World } from "../world/world.js";
import { answersTo } from "./grants.js";
import { possibleValues, type Register } from "./registers.js";
import { isSameWrite, sameWrites } from "./repeated-writes.js";
import { doesLetIn, isWorkspaceOn, type Settings, settingsOf } from "./settings.js";

/** One condition of a verification: whether it may have held while the call ran, and whether it may have failed. */
interface Need {
  /** The verdict if the condition fails. */
  readonly code: string;
  readonly what: string;
  readonly canHold: boolean;
  readonly canFail: boolean;
}

/** The conditions of a verification, in the order in which core checks them. */
function needsOf(world: World, call: Call, settings: Settings): readonly Need[] {
  const seen = <Value>(register: Register<Value>) => possibleValues(register, call, world.losses);
  const need = (code: string, what: string, outcomes: readonly boolean[]): Need => ({
    code,
    what,
    canHold: outcomes.includes(true),
    canFail: outcomes.includes(false),
  });
  const args = call.args as Partial<VerifyArgs>;
  const { permissions: query, ipAddress = "192.0.2.1", isOther, isElsewhere } = args;
  const expiries = seen(settings.expiry);
  const own = call.key?.workspace ?? 0;
  const asked = isElsewhere ? world.elsewhereOf(own) : own;
  return [
    need("FORBIDDEN", "the workspace is switched on", seen(isWorkspaceOn(world, asked))),
    need("NOT_FOUND", "the key exists", [
      ...(isElsewhere ? [false] : seen(settings.exists)),
      // A damaged record may name an API that does not exist.
      ...(world.isDamaged(call.key) ? [false] : []),
    ]),
    need("DISABLED", "the key is switched on", seen(settings.isOn)),
    need("FORBIDDEN", "the key is of the API", [isOther !== true]),
    {
      code: "EXPIRED",
      what: "the key has not expired",
      canHold: expiries.some(({ most }) => most > call.leastNow),
      canFail: expiries.some(({ least }) => least <= call.endNow),
    },
    need(
      "FORBIDDEN",
      "the API lets the address in",
      seen(settings.allowList).map((ranges) => doesLetIn(ranges, ipAddress)),
    ),
    need(
      "INSUFFICIENT_PERMISSIONS",
      "it holds the permissions",
      query === undefined || call.key === null ? [true] : answersTo(world, call, call.key, query),
    ),
  ];
}

const ASKING: ReadonlySet<string> = new Set(["verify", "explain", "guarded", "reserve"]);

/** The code of a call that came to a verdict, otherwise null. For a disabled workspace, calls throw an error with the code FORBIDDEN. */
function codeOf(call: Call): string | null {
  if (call.action === "guarded") return returnedBy<GuardedAnswer>(call).keyId ? "VALID" : null;
  if (call.outcome.kind === "failed")
    return (call.outcome.error as LatchkeyError).code === "FORBIDDEN" ? "FORBIDDEN" : null;
  return returnedBy<VerifyOutcome>(call).code ?? null;
}

/**
 * Law: each verdict was right at some moment during its call. So no key is admitted after its revocation has resolved, and none is refused
 * without a reason.
 */
export function verdictsAreDeserved(world: World): string | null {
  for (const call of world.calls) {
    const { key } = call;
    const code = ASKING.has(call.action) ? codeOf(call) : null;
    if (key === null || code === null) continue;
    const needs = needsOf(world, call, settingsOf(world, key));
    // The first condition that explains the code: it may have failed, and all conditions before it may have held.
    const missing = needs.findIndex(
      (need, place) =>
        need.code === code && need.canFail && needs.slice(0, place).every((one) => one.canHold),
    );
    const isDecidedByRecords = needs.some((need) => need.code === code);
    if (isDecidedByRecords && missing === -1)
      return `#${call.index} was told ${code}, for which there was no reason`;
    const wrong = needs.find(({ canHold }) => !canHold);
    if (!isDecidedByRecords && wrong !== undefined)
      return `#${call.index} was told ${code}, although this did not hold: ${wrong.what}`;
  }
  return null;
}

/** Law: `getKey` returns values that calls have set. */
export function viewsAreTrue(world: World): string | null {
  for (const call of world.calls) {
    if (call.action !== "getKey" || call.key === null) continue;
    if (call.outcome.kind !== "returned" || world.isDamaged(call.key)) continue;
    const view = returnedBy<{ readonly name: string; readonly expires: number }>(call);
    const settings = settingsOf(world, call.key);
    const seen = <Value>(register: Register<Value>) => possibleValues(register, call, world.losses);
    if (!seen(settings.exists).includes(true)) return `#${call.index} shows a key that is deleted`;
    if (!seen(settings.name).includes(view.name))
      return `#${call.index} says that the name is ${view.name}`;
    const expires = view.expires ?? Number.POSITIVE_INFINITY;
    if (!seen(settings.expiry).some(({ least, most }) => least <= expires && expires <= most))
      return `#${call.index} says that it expires at ${view.expires}`;
  }
  return null;
}

/** Whether a report of a leak found no key of this secret, although it exists. */
function isLeakMissed(world: World, call: Call): boolean {
  if (call.action !== "reportLeak" || call.key === null || world.isDamaged(call.key)) return false;
  const { leaks = [] } = returnedBy<ReportedLeaks>(call);
  const { exists } = settingsOf(world, call.key);
  return leaks[0] === null && !possibleValues(exists, call, world.losses).includes(false);
}

/** Law: errors have a reason. NOT_FOUND is not returned for a key that exists, and a damaged key can be revoked. */
export function refusalsHaveReasons(world: World): string | null {
  for (const call of world.calls) {
    if (call.args.inMs === 9e15 && call.outcome.kind === "returned")
      return `#${call.index} was given an instant that no date can name`;
    if (isLeakMissed(world, call)) return `#${call.index} finds no key of a leaked secret`;
    if (call.outcome.kind !== "failed" || call.key === null) continue;
    const { code } = call.outcome.error as LatchkeyError;
    // Here NOT_FOUND is about the reservation.
    if (call.args.reservationId !== undefined) continue;
    const { exists } = settingsOf(world, call.key);
    const seen = possibleValues(exists, call, world.losses);
    const revokes = call.action === "deleteKey" || call.args.enabled === false;
    if (code === "STORE_CORRUPT" && revokes) return `#${call.index} cannot revoke what is damaged`;
    const mayBeMissing = seen.includes(false) || (world.isDamaged(call.key) && !revokes);
    // A portal session finds only the keys of its owner.
    if (code === "NOT_FOUND" && !mayBeMissing && call.action !== "revokeOwn")
      return `#${call.index} ${call.action} does not find ${call.key.name}, which exists`;
    if (code !== "CONFLICT" || call.args.requestId === undefined) continue;
    const isReused = world.calls.some(
      (other) =>
        other !== call &&
        other.key === call.key &&
        other.args.requestId === call.args.requestId &&
        other.startTick < call.endTick,
    );
    if (!isReused) return `#${call.index} was told that its request id was used before`;
  }
  return null;
}

/** Law: a key has at most one successor, and its life cannot be extended after the rotation. */
export function rotationsAreFinal(world: World): string | null {
  if (world.losses.length > 0) return null;
  for (const rotation of world.calls) {
    if (rotation.action !== "rotateKey" || !hasReturned(rotation)) continue;
    // Of a repeat, the first call counts, by the clock of its process.
    const latest = Math.max(...sameWrites(world, rotation).map(({ endNow }) => endNow));
    const until = latest + (rotation.args.graceMs as number);
    for (const call of world.calls) {
      if (call.key !== rotation.key || call === rotation || !hasReturned(call)) continue;
      if (call.action === "rotateKey" && !isSameWrite(call, rotation))
        return `#${call.index} rotates a key for the second time`;
      const at = call.args.inMs === null ? Number.POSITIVE_INFINITY : call.args.inMs;
      const isLate = call.action === "setExpires" && call.startNow + (at as number) > until;
      if (isLate && call.startTick > rotation.endTick)
        return `#${call.index} keeps a key alive that was rotated`;
    }
  }
  return null;
}
