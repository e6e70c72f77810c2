import { applyCharge, type ChargePlan, type ChargeResult, type RateWindow } from "@latchkey/core";
import type { AdHocWindows } from "./ad-hoc-windows.js";
import type { StoredKey } from "./stored-key.js";
import { findWindow, withWindow } from "./windows.js";

type PlannedLimit = ChargePlan["limits"][number];

const STALE: ChargeResult = Object.freeze({ kind: "stale" });
const NONE: readonly null[] = [];

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export function chargeKey(
  key: StoredKey | undefined,
  adHoc: AdHocWindows,
  plan: ChargePlan,
): ChargeResult {
  if (key === undefined) return STALE;
  const { limits } = plan;
  const windows =
    limits.length === 0 ? NONE : limits.map((limit) => storedWindow(key, adHoc, limit));
  const { result, next } = applyCharge(
    {
      keyVersion: key.record.version,
      identityVersion: key.identity === null ? null : key.identity.record.version,
      epoch: key.api.workspace.record.epoch,
      usage: key.usage,
      windows,
    },
    plan,
  );
  if (next === null) return result;
  key.usage = next.usage;
  for (let index = 0; index < limits.length; index += 1) {
    const window = next.windows[index] as RateWindow | null;
    if (window !== windows[index] && window !== null) {
      storeWindow(key, adHoc, limits[index] as PlannedLimit, window, plan.now);
    }
  }
  return result;
}

function storedWindow(key: StoredKey, adHoc: AdHocWindows, limit: PlannedLimit): RateWindow | null {
  if (!limit.isConfigured) return adHoc.find(key.id, limit);
  const owner = limit.owner === "key" ? key : key.identity;
  return owner === null ? null : findWindow(owner.windows, limit);
}

function storeWindow(
  key: StoredKey,
  adHoc: AdHocWindows,
  limit: PlannedLimit,
  window: RateWindow,
  now: number,
): void {
  if (limit.isConfigured) {
    const owner = limit.owner === "key" ? key : key.identity;
    if (owner !== null) owner.windows = withWindow(owner.windows, limit, window);
    return;
  }
  adHoc.set(key.id, limit, window);
  // One more than was added at most, so that forgetting keeps up.
  adHoc.sweep(now, 2);
}
