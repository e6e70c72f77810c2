import type {
  AppliedCharge,
  ChargeMoment,
  ChargePlan,
  LatchkeyError,
  LimitReading,
  RefusedVerdict,
  VerifyOutcome,
} from "@latchkey/core";
import { type Call, returnedBy } from "../history.js";
import { readLimit, windowOf } from "../model/limit-model.js";
import type { GuardedAnswer } from "../plan/guard-actions.js";
import type { Write } from "../world/server.js";
import type { World } from "../world/world.js";

const KIND_BY_CODE: Readonly<Record<string, string>> = {
  VALID: "charged",
  RATE_LIMITED: "rate-limited",
  USAGE_EXCEEDED: "usage-exceeded",
};

const CHARGING: ReadonlySet<string> = new Set(["verify", "guarded", "reserve"]);

/**
 * Law: each verdict that took something, or that a counter refused, has its own charge (or the repeat of one) with the same cost and the
 * same result; and nothing was charged without a question.
 */
export function verdictsHaveCharges(world: World): string | null {
  // A lease is one charge for several verdicts.
  if (world.plan.leases !== undefined) return null;
  const byOwner = new Map<string, Write[]>();
  for (const write of world.server.log) {
    if (write.method !== "charge") continue;
    const plan = write.args[0] as ChargePlan;
    const [first] = plan.confirms;
    if (plan.mode === "peek" || first?.kind !== "key" || write.process === -1) continue;
    const name = `${write.process} ${first.id}`;
    byOwner.set(name, [...(byOwner.get(name) ?? []), write]);
  }
  for (const [name, writes] of byOwner) {
    const [process, keyId] = name.split(" ");
    const calls = world.calls.filter(
      (call) =>
        CHARGING.has(call.action) && String(call.process) === process && call.key?.keyId === keyId,
    );
    const wrong = unmatched(calls, writes);
    if (wrong !== null) return wrong;
  }
  const uncharged = world.calls.find(
    (call) =>
      CHARGING.has(call.action) &&
      KIND_BY_CODE[codeOf(call)] !== undefined &&
      !byOwner.has(`${call.process} ${call.key?.keyId}`),
  );
  return uncharged === undefined ? null : `#${uncharged.index} was never charged`;
}

function codeOf(call: Call): string {
  if (call.action !== "guarded") return returnedBy<VerifyOutcome>(call).code ?? "";
  return returnedBy<GuardedAnswer>(call).keyId ? "VALID" : "";
}

function unmatched(calls: readonly Call[], writes: readonly Write[]): string | null {
  /** The call that each charge was matched with. */
  const owners = new Map<Write, Call>();
  // Bipartite matching: a call may take the charge of another call if that one finds another charge.
  const canHave = (call: Call, tried: Set<Write>): boolean =>
    writes.some((write) => {
      if (tried.has(write) || !isOf(call, write)) return false;
      tried.add(write);
      const owner = owners.get(write);
      if (owner !== undefined && !canHave(owner, tried)) return false;
      owners.set(write, call);
      return true;
    });
  for (const call of calls)
    if (KIND_BY_CODE[codeOf(call)] !== undefined && !canHave(call, new Set()))
      return `#${call.index} was told ${codeOf(call)}, and no charge says so`;
  const unknown = calls.filter(({ outcome }) => {
    if (outcome.kind === "failed") return (outcome.error as LatchkeyError).outcome === "unknown";
    return outcome.kind !== "returned" || (outcome.value as GuardedAnswer).status >= 500;
  });
  const taken = writes.filter((write) => {
    const { kind, isRepeat } = write.result as AppliedCharge;
    return !owners.has(write) && kind === "charged" && isRepeat !== true;
  });
  return taken.length > unknown.length
    ? `${taken.length} charges of ${calls[0]?.key?.name} for which nobody asked`
    : null;
}

function isOf(call: Call, { args, result, tick }: Write): boolean {
  const verdict = returnedBy<VerifyOutcome & { readonly remaining?: number }>(call);
  const { kind, remaining, limits } = result as AppliedCharge;
  const { cost, limits: taken } = args[0] as ChargePlan;
  const told = "ratelimits" in verdict ? (verdict.ratelimits ?? []) : [];
  const { units = 1 } = call.args;
  return (
    tick > call.startTick &&
    tick < call.endTick &&
    cost === call.args.cost &&
    taken.every((limit) => limit.cost === (limit.name === "default" ? units : 1)) &&
    kind === KIND_BY_CODE[codeOf(call)] &&
    // The recorded answer of a guard has no remaining uses or limits.
    (call.action === "guarded" ||
      (remaining === (verdict.remaining ?? null) &&
        limits.length === told.length &&
        limits.every(
          (limit, place) =>
            told[place]?.name === limit.name &&
            told[place]?.remaining === limit.remaining &&
            // In a refusal, the reset of slots comes from the holds, not from the charge. Otherwise, slots that nobody shares end earlier.
            (told[place]?.reset === limit.resetAt ||
              (limit.name === "parallel" &&
                (limit.exceeded || Number(told[place]?.reset) < limit.resetAt))),
        ) &&
        hasRightWait(
          returnedBy(call),
          args as [ChargePlan, ChargeMoment],
          result as AppliedCharge,
        )))
  );
}

/** Whether a request that limits refused would fit after the wait that it was told, and not a millisecond earlier. */
function hasRightWait(
  { code, retryAfterMs: wait }: Partial<RefusedVerdict>,
  [{ limits, cost }, { now }]: readonly [ChargePlan, ChargeMoment],
  { remaining, limits: readings, isRepeat }: AppliedCharge,
): boolean {
  const isByUses = remaining !== null && remaining < Math.max(cost, 1);
  const isBySlots = limits.some(
    ({ algorithm }, place) => algorithm === "concurrent" && readings[place]?.exceeded,
  );
  // The wait may also be for a refill, or for slots. It is absent if the key expires before.
  if (code !== "RATE_LIMITED" || isRepeat || isByUses || isBySlots || wait === undefined)
    return true;
  const fits = (afterMs: number): boolean =>
    limits.every((limit, place) => {
      const window = windowOf((readings[place] as LimitReading).state, limit);
      return limit.shadow || limit.cost <= readLimit(window, limit, now + afterMs).room;
    });
  return fits(wait) && !fits(wait - 1);
}
