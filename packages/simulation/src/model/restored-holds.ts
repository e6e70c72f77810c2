import {
  type Hold,
  type HoldStep,
  type HoldSums,
  kindOfWindow,
  type LimitCharge,
  limitNameOf,
} from "@latchkey/core";
import type { ModelCounter } from "./counter-model.js";
import type { HoldingWorkspace, ModelHeld, ModelHold } from "./hold-model.js";
import type { ModelWindow } from "./limit-model.js";

type RestoreStep = Extract<HoldStep, { readonly kind: "restore" }>;

/** Writes the holds of a record, as a copy does at its end: its counters and windows count as taken what they hold. */
export function restoreHolds(workspace: HoldingWorkspace, { of, sums, holds }: RestoreStep): void {
  const counter = workspace.get(of.kind, of.id)?.counter ?? null;
  if (counter === null) return;
  const place = of.kind === "key" ? 0 : 1;
  for (const hold of workspace.holds.values()) {
    if (hold.beside[place] !== counter || holds.some(({ id }) => id === hold.id)) continue;
    hold.beside = hold.beside.map((own, at) => (at === place ? null : own));
    if (hold.beside.every((own) => own === null)) workspace.holds.delete(hold.id);
  }
  const changes = (sums?.raises ?? []).map(raiseOf).reverse();
  for (const stored of holds) {
    const hold = workspace.holds.get(stored.id) ?? copyOf(stored);
    workspace.holds.set(stored.id, hold);
    hold.expiresAt = stored.expiresAt;
    hold.beside = hold.beside.map((own, at) => (at === place ? counter : own));
    const number = stored.numbers[place] ?? 0;
    const isDropped = (name: string): boolean =>
      sums?.drops.some(
        (one) => one.before > number && one.windows.includes(name) !== one.isKept,
      ) === true;
    hold.limits = hold.limits.map((held, at) => {
      const owner = stored.limits[at]?.owner ?? 0;
      const windows = stored.limits[at]?.owner === null ? workspace.windows : counter.windows;
      return owner === place ? heldIn(windows, held, isDropped(held.window)) : held;
    });
    if (hold.usesOf !== place) continue;
    hold.isVoid = number < (sums?.setBefore ?? 0);
    if (!hold.isVoid) changes.push(changeOf(hold, number));
  }
  restoreSteps(counter, changes);
}

/** Something that changed the uses of a counter: before the hold of this number. `undo`: the step, and what was left before it. */
interface UsesChange {
  readonly number: number;
  readonly undo: (after: number) => {
    readonly left: number;
    readonly step: (left: number) => number;
  };
}

const changeOf = (hold: ModelHold, number: number): UsesChange => ({
  number,
  undo: (after) => ({ left: after + hold.uses, step: (left) => left - hold.taken }),
});

const raiseOf = ({ before, free, units }: HoldSums["raises"][number]): UsesChange => ({
  number: before - 0.5,
  undo: (after) => ({
    left: after - units,
    step: (left) => Math.max(left, Math.min(after + free, left + units)),
  }),
});

/** Makes the steps of a counter from the end backwards: they lead to the uses that are left now. */
function restoreSteps(counter: ModelCounter, changes: readonly UsesChange[]): void {
  counter.steps.length = 0;
  counter.first = counter.remaining;
  for (const { undo } of [...changes].sort((one, other) => other.number - one.number)) {
    if (counter.first === null) return;
    const { left, step } = undo(counter.first);
    counter.first = left;
    counter.steps.unshift((uses) => (uses === null ? null : step(uses)));
  }
}

function copyOf({ id, ttl, expiresAt, uses, usesOf, identityId, limits }: Hold): ModelHold {
  const beside: (ModelCounter | null)[] = identityId === null ? [null] : [null, null];
  return {
    ...{ id, ttl, expiresAt, uses, usesOf, taken: uses, isVoid: false, beside },
    limits: limits.map(({ window, units, at, rate }): ModelHeld => {
      const kind = kindOfWindow(window);
      const isSlot = kind?.algorithm === "concurrent";
      const limit = { ...kind, limit: rate } as LimitCharge;
      const taking = { at, units, flowed: 0, rate };
      const stored = undefined;
      return {
        name: limitNameOf(window),
        isSlot,
        limit,
        units,
        windows: undefined,
        window,
        stored,
        taking,
      };
    }),
  };
}

/** A held part of a window: it is one of the takings from then on. */
function heldIn(windows: Map<string, ModelWindow>, held: ModelHeld, isDropped: boolean): ModelHeld {
  const { window, taking, limit } = held;
  const stored = windows.get(window);
  if (stored === undefined || taking === undefined || isDropped)
    return { ...held, windows, stored: undefined };
  if (held.stored === stored) return held;
  const length = limit.algorithm === "sliding" ? Math.ceil(limit.duration / 16) : 1;
  const groupOf = (at: number): number => Math.floor(at / length);
  const whole = stored.takings.find(
    ({ at, units }) => units >= taking.units && (held.isSlot || groupOf(at) === groupOf(taking.at)),
  );
  if (limit.algorithm !== "token-bucket") {
    if (whole === undefined) return { ...held, windows, stored: undefined };
    whole.units -= taking.units;
    stored.takings.push(taking);
  }
  return { ...held, windows, stored };
}
