import {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  type RateWindow,
  type RememberedCharge,
} from "@latchkey/core";
import { ExpiringMap } from "./expiring-map.js";
import { frozenCopy } from "./frozen.js";
import type { StoredKey } from "./stored-key.js";
import { findWindow, withWindow } from "./windows.js";

type PlannedLimit = ChargePlan["limits"][number];

/**
 * How long the window of a limit that a request made up is kept after its end. A clock set back by less than
 * this finds it still there: no window goes back.
 */
const KEPT_AFTER_END_MS = 24 * 60 * 60 * 1000;

const STALE: ChargeResult = Object.freeze({ kind: "stale" });
const NO_WINDOWS: readonly null[] = [];

/** Puts together what is stored of a plan, lets `applyCharge` decide, and stores what it says. */
export class Charges {
  /** Of limits that requests made up: of all keys, so that a key without such limits costs nothing. */
  readonly #adHocWindows = new ExpiringMap<RateWindow>();
  readonly #remembered = new ExpiringMap<RememberedCharge>();

  charge(key: StoredKey | undefined, plan: ChargePlan): ChargeResult {
    if (key === undefined) return STALE;
    const { limits, request } = plan;
    const windows = limits.length === 0 ? NO_WINDOWS : this.#windows(key, limits);
    const { result, next } = applyCharge(
      {
        keyVersion: key.record.version,
        identityVersion: key.identity === null ? null : key.identity.record.version,
        epoch: key.api.workspace.record.epoch,
        usage: key.usage,
        windows,
        remembered: request === undefined ? null : this.#remembered.get(`${key.id} ${request.id}`),
      },
      plan,
    );
    if (next === null) return result;
    key.usage = next.usage;
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
    const windows: (RateWindow | null)[] = [];
    for (const limit of limits) windows.push(this.#window(key, limit));
    return windows;
  }

  #window(key: StoredKey, limit: PlannedLimit): RateWindow | null {
    if (!limit.isConfigured) return this.#adHocWindows.get(adHocName(key, limit));
    const owner = limit.owner === "key" ? key : key.identity;
    return owner === null ? null : findWindow(owner.windows, limit);
  }

  #setWindow(key: StoredKey, limit: PlannedLimit, window: RateWindow, now: number): void {
    if (limit.isConfigured) {
      const owner = limit.owner === "key" ? key : key.identity;
      if (owner !== null) owner.windows = withWindow(owner.windows, limit, window);
      return;
    }
    const keepUntil = window.startedAt + limit.durationMs + KEPT_AFTER_END_MS;
    this.#adHocWindows.set(adHocName(key, limit), window, keepUntil, now);
  }

  /** A copy, since the result itself is handed out. */
  #remember(key: StoredKey, { request, now }: ChargePlan, remember: RememberedCharge): void {
    if (request === undefined) return;
    this.#remembered.set(`${key.id} ${request.id}`, frozenCopy(remember), remember.until, now);
  }
}

/** The duration comes before the name, which may hold any character. */
function adHocName({ id }: StoredKey, { name, durationMs }: PlannedLimit): string {
  return `${id} ${durationMs} ${name}`;
}
