import {
  configuredWindow,
  fromWireFigures,
  type KeyStore,
  type LimitReading,
  type WireLimitFigures,
} from "@latchkey/core";

/** Whose counters hold the windows. */
export interface WindowOwner {
  readonly kind: "key" | "identity";
  readonly id: string;
}

/** A limit as it is configured. */
export type ConfiguredLimit = WireLimitFigures & { readonly name: string };

/** A limit, and its window as it stands. */
export type WindowState = ConfiguredLimit & {
  readonly of: WindowOwner["kind"];
  readonly ownerId: string;
  readonly remaining: number;
  /** Unix epoch ms at which the next window opens. */
  readonly reset: number;
};

/**
 * The windows of limits as they stand, in their order; nothing is taken. Of an owner that is gone meanwhile they are empty.
 *
 * @param now - Unix epoch ms.
 */
export async function readWindows(
  store: KeyStore,
  workspaceId: string,
  owner: WindowOwner,
  limits: readonly ConfiguredLimit[],
  now: number,
): Promise<readonly WindowState[]> {
  if (limits.length === 0) return [];
  const peek = await store.charge(
    {
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
    },
    { now, refill: null },
  );
  const readings: readonly LimitReading[] = "limits" in peek ? peek.limits : [];
  return readings.map(({ remaining, resetAt }, at) => ({
    ...(limits[at] as ConfiguredLimit),
    of: owner.kind,
    ownerId: owner.id,
    remaining,
    reset: resetAt,
  }));
}
