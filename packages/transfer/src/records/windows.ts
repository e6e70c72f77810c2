import {
  type ChargePlan,
  configuredWindow,
  durationOfWindow,
  type KeyStore,
  type RateWindow,
  type RecordAddress,
  type RecordLayout,
  type SpanMs,
} from "@latchkey/core";

/** Where a window is, and how long it is. */
export interface WindowLimit {
  readonly window: string;
  readonly duration: SpanMs;
}

/** A window, and where it is. */
export interface FoundWindow extends WindowLimit {
  readonly found: RateWindow;
}

/** Most windows that one plan looks at, and most plans that are under way. */
const [MOST_OF_PLAN, MOST_AT_ONCE] = [50, 64];

/** The windows that the counters of a record may have. */
export function windowLimitsOf({ limits }: RecordLayout): readonly WindowLimit[] {
  return limits.map((limit) => ({ window: configuredWindow(limit), duration: limit.duration }));
}

/**
 * A plan over windows of a record, or of the workspace for null. It takes nothing but what it is told, and refuses nothing: a
 * window is as large as a number can be.
 */
function planOf(
  workspaceId: string,
  owner: RecordAddress | null,
  limits: readonly (WindowLimit & { readonly cost: number })[],
  mode: ChargePlan["mode"],
): ChargePlan {
  return {
    workspaceId,
    revision: null,
    confirms: owner === null ? [] : [{ kind: owner.kind, id: owner.id, version: "exists" }],
    mode,
    cost: 0,
    uses: null,
    limits: limits.map(({ window, duration, cost }) => ({
      name: window,
      window,
      duration,
      cost,
      limit: Number.MAX_SAFE_INTEGER,
      owner: owner === null ? null : 0,
    })),
  };
}

/** Windows that are stored, by name. A stored window never goes back, so at the instant 0 each counts as it is. */
export async function readWindows(
  store: KeyStore,
  workspaceId: string,
  owner: RecordAddress | null,
  limits: readonly WindowLimit[],
): Promise<Readonly<Record<string, RateWindow>>> {
  const windows: Record<string, RateWindow> = {};
  for (let from = 0; from < limits.length; from += MOST_OF_PLAN) {
    const some = limits.slice(from, from + MOST_OF_PLAN);
    const looked = some.map((limit) => ({ ...limit, cost: 0 }));
    const plan = planOf(workspaceId, owner, looked, "peek");
    const result = await store.charge(plan, { now: 0, refill: null });
    // A record that went meanwhile has none.
    if (!("limits" in result)) continue;
    for (const [place, { limit, remaining, resetAt }] of result.limits.entries()) {
      const { window, duration } = some[place] as WindowLimit;
      if (remaining < limit)
        windows[window] = { startedAt: resetAt - duration, used: limit - remaining };
    }
  }
  return windows;
}

/** Writes windows that are not there yet: what was used is taken at the instant at which the window began. */
export async function writeWindows(
  store: KeyStore,
  workspaceId: string,
  owner: RecordAddress | null,
  windows: readonly FoundWindow[],
): Promise<void> {
  for (const startedAt of new Set(windows.map(({ found }) => found.startedAt))) {
    const together = windows.filter(({ found }) => found.startedAt === startedAt);
    const taken = together.map((each) => ({ ...each, cost: each.found.used }));
    const plan = planOf(workspaceId, owner, taken, "commit");
    await store.charge(plan, { now: startedAt, refill: null });
  }
}

/** The windows that a workspace keeps, those of limits without an owner. */
export async function readOwnWindows(
  store: KeyStore,
  workspaceId: string,
): Promise<ReadonlyMap<string, FoundWindow>> {
  const limits = new Map<string, WindowLimit>();
  for await (const window of scanned(store, workspaceId)) {
    const duration = durationOfWindow(window);
    if (duration !== null) limits.set(window, { window, duration });
  }
  const all = [...limits.values()];
  const found = new Map<string, FoundWindow>();
  const look = async (from: number) => {
    const windows = await readWindows(
      store,
      workspaceId,
      null,
      all.slice(from, from + MOST_OF_PLAN),
    );
    for (const [name, window] of Object.entries(windows))
      found.set(name, { ...(limits.get(name) as WindowLimit), found: window });
  };
  for (let from = 0; from < all.length; from += MOST_OF_PLAN * MOST_AT_ONCE) {
    const starts = Array.from({ length: MOST_AT_ONCE }, (_, step) => from + step * MOST_OF_PLAN);
    await Promise.all(starts.map(look));
  }
  return found;
}

/** All names of a scan. */
export async function* scanned(
  store: KeyStore,
  workspaceId: string | null,
): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const page = await store.scan(workspaceId, after);
    yield* page.names;
    after = page.next;
  } while (after !== null);
}

/** A window of a workspace as one text, of which a digest is taken. */
export function windowText(workspaceId: string, { window, found }: FoundWindow): string {
  return `${workspaceId} window ${window} ${found.startedAt} ${found.used}`;
}
