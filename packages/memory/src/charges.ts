import {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  NO_USES,
  type RateWindow,
  type RememberedCharge,
} from "@latchkey/core";
import { ExpiringMap } from "./expiring-map.js";
import { ExpiringWindows } from "./expiring-windows.js";
import { frozenCopy } from "./frozen.js";
import type { StoredIdentity } from "./stored-identity.js";
import type { StoredKey } from "./stored-key.js";
import { findWindow, withWindow } from "./windows.js";

type PlannedLimit = ChargePlan["limits"][number];

const STALE: ChargeResult = Object.freeze({ kind: "stale" });
const NO_WINDOWS: readonly null[] = [];

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export class Charges {
  /** Of limits that requests made up: of all keys, so that a key without such limits costs nothing. */
  readonly #adHocWindows = new ExpiringWindows();
  readonly #remembered = new ExpiringMap<RememberedCharge>();

  charge(key: StoredKey | undefined, plan: ChargePlan): ChargeResult {
    if (key === undefined) return STALE;
    const { limits, request } = plan;
    const { identity } = key;
    const drawnFrom = plan.usesFrom === "key" ? key : identity;
    const usage = drawnFrom === null ? NO_USES : drawnFrom.usage;
    const windows = limits.length === 0 ? NO_WINDOWS : this.#windows(key, limits);
    const { result, next } = applyCharge(
      {
        keyVersion: key.record.version,
        identityVersion: identity === null ? null : identity.record.version,
        epoch: key.api.workspace.record.epoch,
        usage,
        windows,
        remembered: request === undefined ? null : this.#remembered.get(`${key.id} ${request.id}`),
      },
      plan,
    );
    if (next === null) return result;
    if (next.usage !== usage && drawnFrom !== null) drawnFrom.usage = next.usage;
    for (let index = 0; index < limits.length; index += 1) {
      const window = next.windows[index] as RateWindow | null;
      if (window !== windows[index] && window !== null) {
        this.#setWindow(key, limits[index] as PlannedLimit, window, plan.now);
      }
    }
    if (next.remember !== null) this.#remember(key, plan, next.remember);
    return result;
  }

  clear(): void {
    this.#adHocWindows.clear();
    this.#remembered.clear();
  }

  #windows(key: StoredKey, limits: readonly PlannedLimit[]): readonly (RateWindow | null)[] {
    return limits.map((limit) => this.#window(key, limit));
  }

  #window(key: StoredKey, limit: PlannedLimit): RateWindow | null {
    if (!limit.isConfigured) return this.#adHocWindows.get(adHocName(key, limit));
    const owner = ownerOf(key, limit);
    return owner === null ? null : findWindow(owner.windows, limit);
  }

  #setWindow(key: StoredKey, limit: PlannedLimit, window: RateWindow, now: number): void {
    if (limit.isConfigured) {
      const owner = ownerOf(key, limit);
      if (owner !== null) owner.windows = withWindow(owner.windows, limit, window);
      return;
    }
    this.#adHocWindows.set(adHocName(key, limit), window, limit.durationMs, now);
  }

  /** A copy, since the result itself is handed out. */
  #remember(key: StoredKey, { request, now }: ChargePlan, remember: RememberedCharge): void {
    if (request === undefined) return;
    this.#remembered.set(`${key.id} ${request.id}`, frozenCopy(remember), remember.until, now);
  }
}

function ownerOf(key: StoredKey, { owner }: PlannedLimit): StoredKey | StoredIdentity | null {
  return owner === "key" ? key : key.identity;
}

/** Keys that share their counters share these too. The duration comes before the name, which may hold any character. */
function adHocName({ record }: StoredKey, { name, durationMs }: PlannedLimit): string {
  return `${record.countersId ?? record.id} ${durationMs} ${name}`;
}
