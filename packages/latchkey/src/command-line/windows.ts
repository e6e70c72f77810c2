import { configuredWindow, type KeyStore, type LimitReading } from "@latchkey/core";

/** Whose counters hold the windows. */
export interface WindowOwner {
  readonly kind: "key" | "identity";
  readonly id: string;
}

/** A limit as it is configured. */
export interface ConfiguredLimit {
  readonly name: string;
  readonly limit: number;
  readonly duration: number;
}

/** A limit, and its window as it stands. */
export interface WindowState extends ConfiguredLimit {
  readonly of: WindowOwner["kind"];
  readonly ownerId: string;
  readonly remaining: number;
  /** Unix epoch ms at which the next window opens. */
  readonly reset: number;
}

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
      limits: limits.map(({ name, limit, duration }) => ({
        name,
        limit,
        duration,
        cost: 0,
        window: configuredWindow({ name, duration }),
        owner: 0,
      })),
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
