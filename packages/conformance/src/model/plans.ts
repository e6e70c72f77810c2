import assert from "node:assert/strict";
import type {
  ChargeCounts,
  ChargeMoment,
  ChargePlan,
  Expectation,
  LimitCharge,
  RecordAddress,
} from "@latchkey/core";
import { isLeased } from "../fixtures/holds.js";
import { SLOTS, type StepOf, WINDOW_KINDS } from "./arbitraries.js";
import type { ModelStore } from "./model-store.js";

/** What is counted: for two subjects at once, and with other sums than core adds. */
export const COUNTED = [
  { kind: "key", id: "s1" },
  { kind: "api", id: "s2" },
] as const;
export const COUNTS: ChargeCounts = {
  subjects: COUNTED,
  sums: {
    charged: { VALID: 1, EXTRA_USES: 4 },
    repeat: { VALID: 1, FREE: 1 },
    "rate-limited": { RATE_LIMITED: 2 },
    "usage-exceeded": { USAGE_EXCEEDED: 1 },
  },
};

/** What a plan of core may hold: beside a key, and beside its identity if that is confirmed as well. */
function holdOf(
  hold: StepOf<"charge">["hold"],
  confirms: readonly Expectation[],
  limits: readonly LimitCharge[],
): ChargePlan["hold"] {
  const [first, second] = confirms;
  const isBesideKeys = first?.kind === "key" && (second?.kind ?? "identity") === "identity";
  if (hold === null || !isBesideKeys) return undefined;
  const takesSlots = limits.some(({ window, cost }) => window === SLOTS && cost > 0);
  if (hold.keeps === "slots" && !takesSlots) return undefined;
  const slotTtl = takesSlots ? hold.slotTtl : null;
  return { ...hold, slotTtl, most: hold.most.slice(0, confirms.length) };
}

/**
 * The limits and the hold of a charge, as core makes them. A reservation never holds of two limits of one name. Slots without a hold are
 * not taken if no record keeps them: they would never be given back, and such a window is forgotten a day after its end.
 *
 * @param ownerOf - The place of a confirmed record; null for none.
 */
export function takenBy(
  step: StepOf<"charge">,
  confirms: readonly Expectation[],
  ownerOf: (owner: number | null) => number | null,
) {
  const wanted = step.limits
    .map((limit) => ({ ...limit, owner: ownerOf(limit.owner) }))
    .filter(
      ({ window, owner }, index, all) =>
        (step.hold === null || !all.slice(0, index).some((one) => one.window === window)) &&
        !all.slice(0, index).some((one) => one.window === window && one.owner === owner),
    )
    .map((limit, index) => ({ ...limit, name: `${index}`, ...WINDOW_KINDS[limit.window] }));
  const hold = holdOf(step.hold, confirms, wanted);
  const limits = wanted.map((limit) => {
    if (hold !== undefined && isLeased(hold)) return { ...limit, held: limit.cost };
    if (limit.window !== SLOTS) return limit;
    const isStray = hold === undefined && limit.owner === null;
    return { ...limit, shadow: false, ...(isStray && { cost: 0 }) };
  });
  return { limits, hold };
}

/** A refill as core passes it: one that carries over was counted from the instant up to which refills are applied. */
export function dueOf(
  model: ModelStore,
  workspace: string,
  { kind, id }: RecordAddress,
  refill: StepOf<"charge">["refill"],
): ChargeMoment["refill"] {
  if (refill === null) return null;
  const { amount, dueAt, carried } = refill;
  if (carried === null) return { amount, dueAt };
  const { usage = null } = model.find(workspace, { kind, id }) ?? {};
  const since = carried.since ?? usage?.refilledAt ?? 0;
  const countedFrom = () => assert.fail("a store counts no refills");
  return { amount, dueAt, carry: { units: carried.units, since, countedFrom } };
}

/** A name for a record that is unique among all workspaces. */
export const nameIn = (workspace: string, { kind, id }: RecordAddress): string =>
  JSON.stringify([workspace, kind, id]);

export function isSame(one: RecordAddress, other: RecordAddress): boolean {
  return one.kind === other.kind && one.id === other.id;
}

/** Only the first item of each record. */
export function firstOfEach<Item extends RecordAddress>(items: readonly Item[]): readonly Item[] {
  return items.filter((item, index) => !items.slice(0, index).some((one) => isSame(one, item)));
}

/** Every third plan ends the latest hold, or repeats its end. */
export function endsOf(
  { mode, counts }: ChargePlan,
  number: number,
  [id]: readonly string[] = [],
): Pick<ChargeMoment, "ends"> {
  if (id === undefined || mode === "peek" || counts !== undefined || number % 3 > 0) return {};
  return { ends: { kind: "end", id, uses: number % 2, limits: [], rest: false } };
}
