import assert from "node:assert/strict";
import {
  type ChargePlan,
  type ChargeResult,
  type EpochMs,
  type HourCount,
  type KeyStore,
  kindOfWindow,
  STATISTICS_SPAN_MS,
  type Want,
} from "@latchkey/core";
import { at, DAY, NOW } from "../fixtures/records.js";
import { KINDS, NAMES, NUMBERS, WINDOW_KINDS, WINDOWS } from "./arbitraries.js";
import { hasCountedForADay, type ModelStore } from "./model-store.js";

/** Every record that a sequence may write. */
export const ADDRESSES = KINDS.flatMap((kind) => NUMBERS.map((number) => at(kind, number)));

/** Every name that a sequence may give. */
const CLAIMS = KINDS.flatMap((kind) =>
  ["a", "b"].flatMap((index) => NAMES.map((value) => ({ kind, index, value }))),
);
/** All that can be read by an id or a name. */
export const WANTS: readonly Want[] = [...ADDRESSES, ...CLAIMS];

/** Without what JSON does not show: fields that are undefined, prototypes. */
export function assertAlike(actual: unknown, expected: unknown, call: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  // Most are alike to the letter: parsing them to compare their fields was a third of all sequences on memory.
  if (found === wanted) return;
  try {
    assert.deepEqual(JSON.parse(found), JSON.parse(wanted));
  } catch (error) {
    if (error instanceof assert.AssertionError)
      error.message += `\n\nof the call ${JSON.stringify(call)}`;
    throw error;
  }
}

function inOrder(sums: readonly HourCount[]): readonly string[] {
  return sums.map(({ hourAt, code, count }) => `${hourAt} ${code} ${count}`).toSorted();
}

/** The sums of a subject, in all hours and in those of a day. */
export async function compareStatistics(
  store: KeyStore,
  model: ModelStore,
  workspace: string,
  subject: { readonly kind: "key" | "api"; readonly id: string },
): Promise<void> {
  const startAt = NOW - (NOW % STATISTICS_SPAN_MS) - DAY;
  for (const range of [
    { subject, startAt: 0, endAt: NOW + 100 * DAY },
    { subject, startAt, endAt: startAt + DAY },
  ]) {
    const sums = await store.readStatistics(workspace, range);
    assertAlike(inOrder(sums), inOrder(model.readStatistics(workspace, range)), range);
  }
}

/**
 * What is expected of a store that has forgotten what a full bucket of the workspace had counted for a day or more: by then nothing can come
 * back to it.
 */
function withForgotten(expected: ChargeResult, actual: ChargeResult, now: EpochMs): ChargeResult {
  if (!("limits" in expected) || !("limits" in actual)) return expected;
  const limits = expected.limits.map((reading, index) => {
    const { used } = reading.state;
    const isOver = kindOfWindow(reading.name)?.algorithm === "token-bucket" && used === 0;
    const isForgotten = actual.limits[index]?.state.earlier.length === 0;
    return isOver && isForgotten && hasCountedForADay(reading.state, now)
      ? { ...reading, state: { ...reading.state, earlier: [] } }
      : reading;
  });
  return { ...expected, limits };
}

/** Looks at each window of each record, and of the workspace. */
export async function compareWindows(
  store: KeyStore,
  model: ModelStore,
  workspace: string,
  now: EpochMs,
): Promise<void> {
  for (const address of [null, ...ADDRESSES]) {
    const found = address && model.find(workspace, address);
    if (address !== null && !found?.usage) continue;
    const plan: ChargePlan = {
      workspaceId: workspace,
      revision: null,
      confirms: address === null ? [] : [{ ...address, version: "exists" }],
      mode: "peek",
      cost: 0,
      uses: null,
      limits: WINDOWS.map((window) => ({
        ...{ name: window, window, ...WINDOW_KINDS[window], limit: 1_000, burst: 1_000 },
        ...{ shadow: false, cost: 0 },
        owner: address === null ? null : 0,
      })),
    };
    // Beside what is over nothing can be looked at.
    const nextEnd = found?.usage?.holds?.nextEnd ?? Number.MAX_SAFE_INTEGER;
    const moment = { now: Math.min(now, nextEnd - 1), refill: null };
    const expected = model.charge(plan, moment);
    const actual = await store.charge(plan, moment);
    const wanted = address === null ? withForgotten(expected, actual, moment.now) : expected;
    assertAlike(actual, wanted, { address });
  }
}
