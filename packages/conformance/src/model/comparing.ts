import assert from "node:assert/strict";
import {
  type ChargePlan,
  type EpochMs,
  type HourCount,
  type KeyStore,
  STATISTICS_SPAN_MS,
  type Want,
} from "@latchkey/core";
import { at, DAY, NOW } from "../fixtures/records.js";
import { KINDS, NAMES, NUMBERS, WINDOW_KINDS, WINDOWS } from "./arbitraries.js";
import type { ModelStore } from "./model-store.js";

/** Every record that a sequence may write. */
export const ADDRESSES = KINDS.flatMap((kind) => NUMBERS.map((number) => at(kind, number)));

/** Every name that a sequence may claim. */
const CLAIMS = KINDS.flatMap((kind) =>
  ["a", "b"].flatMap((index) => NAMES.map((value) => ({ kind, index, value }))),
);
/** Everything that can be read by an id or a claim. */
export const WANTS: readonly Want[] = [...ADDRESSES, ...CLAIMS];

/** Compares as JSON does: without undefined fields and prototypes. */
export function assertAlike(actual: unknown, expected: unknown, call: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  // Most are equal to the letter: parsing them to compare their fields took a third of the time of all sequences on memory.
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

/** Compares the sums of a subject, in all hours and in those of a day. */
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

/** Compares each window of each record, and those of the workspace that no store may have forgotten. */
export async function compareWindows(
  store: KeyStore,
  model: ModelStore,
  workspace: string,
  now: EpochMs,
): Promise<void> {
  for (const address of [null, ...ADDRESSES]) {
    const found = address && model.find(workspace, address);
    if (address !== null && !found?.usage) continue;
    const windows = WINDOWS.filter(
      (window) => address !== null || !model.mayBeForgotten(workspace, window, now),
    );
    const plan: ChargePlan = {
      workspaceId: workspace,
      revision: null,
      confirms: address === null ? [] : [{ ...address, version: "exists" }],
      mode: "peek",
      cost: 0,
      uses: null,
      limits: windows.map((window) => ({
        ...{ name: window, window, ...WINDOW_KINDS[window], limit: 1_000, burst: 1_000 },
        ...{ shadow: false, cost: 0 },
        owner: address === null ? null : 0,
      })),
    };
    // Beside a hold that is over nothing can be looked at.
    const nextEnd = found?.usage?.holds?.nextEnd ?? Number.MAX_SAFE_INTEGER;
    const moment = { now: Math.min(now, nextEnd - 1), refill: null };
    const expected = model.charge(plan, moment);
    const actual = await store.charge(plan, moment);
    assertAlike(actual, expected, { address });
  }
}
