import {
  type ChargePlan,
  configuredWindow,
  fromWireFigures,
  type KeyStore,
  LAST_INSTANT,
  type LimitReading,
  type WireLimitFigures,
} from "@latchkey/core";

/** The record whose counters contain the windows. */
export interface WindowOwner {
  readonly kind: "key" | "identity";
  readonly id: string;
}

/** A limit as it is configured. */
export type ConfiguredLimit = WireLimitFigures & { readonly name: string };

/** A limit and the current state of its window. */
export type WindowState = ConfiguredLimit & {
  readonly of: WindowOwner["kind"];
  readonly ownerId: string;
  readonly remaining: number;
  /**
   * Unix epoch ms at which it is completely available again; for a fixed limit, when the next window opens. Absent beyond the
   * last date.
   */
  readonly reset?: number;
};

/** {@link readLimits}, in the form that commands show. */
export async function readWindows(
  store: KeyStore,
  workspaceId: string,
  owner: WindowOwner,
  limits: readonly ConfiguredLimit[],
  now: number,
): Promise<readonly WindowState[]> {
  const readings = await readLimits(store, workspaceId, owner, limits, now);
  return readings.map(({ remaining, resetAt }, at) => ({
    ...(limits[at] as ConfiguredLimit),
    of: owner.kind,
    ownerId: owner.id,
    remaining,
    ...(resetAt <= LAST_INSTANT && { reset: resetAt }),
  }));
}

/**
 * The current state of limits, in their order. Nothing is taken, and expired reservations are ended. For an owner that has been
 * deleted meanwhile, the list is empty.
 *
 * @param now - Unix epoch ms.
 */
export async function readLimits(
  store: KeyStore,
  workspaceId: string,
  owner: WindowOwner,
  limits: readonly ConfiguredLimit[],
  now: number,
): Promise<readonly LimitReading[]> {
  if (limits.length === 0) return [];
  const plan: ChargePlan = {
    workspaceId,
    revision: null,
    confirms: [{ ...owner, version: "exists" }],
    mode: "peek",
    cost: 0,
    uses: null,
    limits: limits.map((wire) => {
      const limit = { name: wire.name, ...fromWireFigures(wire) };
      return { ...limit, cost: 0, window: configuredWindow(limit), owner: 0 };
    }),
  };
  for (;;) {
    const peek = await store.charge(plan, { now, refill: null });
    if (peek.kind !== "unsettled") return "limits" in peek ? peek.limits : [];
    const step = { kind: "refresh", of: owner, refill: null } as const;
    await store.settle(workspaceId, step, { now, revision: null });
  }
}
