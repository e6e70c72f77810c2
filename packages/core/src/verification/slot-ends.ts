import type { Hold } from "../rules/hold.js";
import type { RecordAddress } from "../store/change.js";
import type { AppliedCharge, ChargePlan, LimitCharge, LimitReading } from "../store/charge.js";
import type { KeyStore } from "../store/key-store.js";
import { allHolds } from "../store/read-counters.js";
import type { EpochMs } from "../time.js";
import { slotTtlOf } from "./plan.js";

/**
 * Whether it is still unknown when the slots of a concurrent limit end that refused, or that was only read, at a cost of 0.
 *
 * @param isRemembered - Whether a repeat returns the result: then it must be the same, so nothing is looked up for a limit that was only read.
 */
export function lacksSlotEnds(
  { limits }: Pick<ChargePlan, "limits">,
  charge: AppliedCharge,
  isRemembered = false,
): boolean {
  const isRefusal = charge.kind === "rate-limited";
  // Not by `some`: every verification runs this.
  for (let index = 0; index < limits.length; index += 1) {
    const reading = charge.limits[index];
    const isWanted = reading?.exceeded ? isRefusal : !isRemembered;
    if (isWanted && isUnknown(limits[index] as LimitCharge, reading)) return true;
  }
  return false;
}

/** A repeat may return a result with other limits, or more or fewer of them, if they have changed since. */
function isUnknown(
  { algorithm, name, cost }: LimitCharge,
  reading: LimitReading | undefined,
): boolean {
  if (algorithm !== "concurrent" || reading?.name !== name) return false;
  const isOnlyRead = cost === 0 && reading.state.used > 0;
  return (reading.exceeded || isOnlyRead) && reading.admitsAt === undefined;
}

/** Adds to such limits when enough slots will have ended, and when all of them, if none is renewed. It reads the holds. */
export async function withSlotEnds(
  store: Pick<KeyStore, "holds">,
  { workspaceId, confirms, limits }: ChargePlan,
  charge: AppliedCharge,
  now: EpochMs,
): Promise<AppliedCharge> {
  const readings = charge.limits.map(async (reading, index): Promise<LimitReading> => {
    const limit = limits[index];
    if (limit === undefined || !isUnknown(limit, reading)) return reading;
    const holds = await allHolds(store, workspaceId, confirms[limit.owner ?? 0] as RecordAddress);
    const slots = countedSlots(holds, limit, reading);
    // Not from `remaining`, which is also 0 if a limit was lowered and more slots are held than it has now.
    let missing = reading.state.used + limit.cost - limit.limit;
    const ends = slots.find(({ units }) => {
      missing -= units;
      return missing <= 0;
    });
    const resetAt = Math.max(now, slots.at(-1)?.expiresAt ?? now);
    const admitsAt = reading.exceeded ? (ends?.expiresAt ?? now) : now;
    return { ...reading, resetAt, admitsAt };
  });
  return { ...charge, limits: await Promise.all(readings) };
}

/**
 * Adds to a charge when its slots end, for limits that nobody else holds slots of: they end together, with the shortest `duration` or the
 * reservation. For a limit with other slots, `resetAt` stays the latest possible instant: only the holds know more, and reading them would
 * make every such verification slower.
 *
 * @param now - When slots that a `peek` would take are taken.
 */
export function withOwnSlotEnds(
  { limits, hold }: Pick<ChargePlan, "limits" | "hold">,
  charge: AppliedCharge,
  now: EpochMs,
): AppliedCharge {
  const longest = slotTtlOf(limits);
  if (charge.kind !== "charged" || longest === null) return charge;
  const ttl = hold?.ttl ?? longest;
  // A repeat returns the hold of the first charge.
  const takenAt = charge.hold === undefined ? now : charge.hold.expiresAt - ttl;
  const resetAt = takenAt + Math.min(ttl, longest);
  const readings = charge.limits.map((reading, index) => {
    const limit = limits[index];
    return limit !== undefined && isAlone(limit, reading) ? { ...reading, resetAt } : reading;
  });
  return { ...charge, limits: readings };
}

/** Whether the slots that were just taken are the only ones. A repeat may return a result with other limits. */
function isAlone({ algorithm, name, cost }: LimitCharge, reading: LimitReading): boolean {
  const isTaken = algorithm === "concurrent" && cost > 0 && reading.name === name;
  return isTaken && reading.state?.used === cost;
}

/**
 * The slots that a limit counts, the earliest end first. A hold may have slots that the limit no longer counts, because it was removed or
 * reset since then: such slots are older than all counted ones.
 */
function countedSlots(
  holds: readonly Hold[],
  { window, owner }: LimitCharge,
  { state }: LimitReading,
): readonly { readonly expiresAt: EpochMs; readonly units: number }[] {
  let uncounted = state.used;
  return holds
    .flatMap(({ expiresAt, numbers, limits }) =>
      limits
        .filter((held) => held.window === window && held.owner === owner)
        .map(({ units }) => ({ expiresAt, units, number: numbers[owner ?? 0] ?? 0 })),
    )
    .sort((one, other) => other.number - one.number)
    .filter(({ units }) => {
      uncounted -= units;
      return uncounted >= 0;
    })
    .sort((one, other) => one.expiresAt - other.expiresAt);
}
