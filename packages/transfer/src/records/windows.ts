import {
  AS_STORED,
  type ChargePlan,
  configuredWindow,
  type Expectation,
  type KeyStore,
  kindOfWindow,
  type LimitFigures,
  type LimitKind,
  type LimitReading,
  type LimitState,
  type RecordAddress,
  type RecordLayout,
  stateOfReading,
  takingsOf,
} from "@latchkey/core";
import { piecesOf } from "../pieces.js";

/** The address of a window, and how its limit counts. */
export interface WindowLimit extends LimitKind {
  readonly window: string;
}

/** A window and its address. */
export interface FoundWindow extends WindowLimit {
  readonly found: LimitState;
}

/** Maximum windows and records in one plan, and maximum windows read together. */
const [MOST_LIMITS, MOST_OWNERS, MOST_AT_ONCE] = [50, 16, 3_000];

/** The windows that the counters of a record can have. */
export function windowLimitsOf({ limits }: RecordLayout): readonly WindowLimit[] {
  return limits.map((limit) => {
    const { algorithm, duration } = limit;
    return { window: configuredWindow(limit), algorithm, duration };
  });
}

/** A window of a record, or of the workspace if the record is null, and what to take from it. */
interface OwnedTaking {
  readonly window: string;
  readonly owner: RecordAddress | null;
  readonly cost: number;
  readonly limit: LimitFigures;
}

/**
 * A plan over windows. It takes only what it is given, and refuses nothing, because each limit is as large as a number can be.
 */
function planOf(
  workspaceId: string,
  takings: readonly OwnedTaking[],
  mode: ChargePlan["mode"],
): ChargePlan {
  const owners = new Map<string, Expectation>();
  const nameOf = ({ kind, id }: RecordAddress) => `${kind} ${id}`;
  for (const { owner } of takings)
    if (owner !== null)
      owners.set(nameOf(owner), { kind: owner.kind, id: owner.id, version: "exists" });
  const names = [...owners.keys()];
  return {
    workspaceId,
    revision: null,
    confirms: [...owners.values()],
    mode,
    cost: 0,
    uses: null,
    limits: takings.map(({ window, limit, cost, owner }) => ({
      name: window,
      window,
      ...limit,
      shadow: false,
      cost,
      owner: owner === null ? null : names.indexOf(nameOf(owner)),
    })),
  };
}

/** In as few plans as possible: most records have one limit or none. */
function* inPlans<Item extends { readonly owner: RecordAddress | null }>(
  items: readonly Item[],
): Generator<readonly Item[]> {
  let some: Item[] = [];
  const owners = new Set<string>();
  for (const item of items) {
    const name = item.owner === null ? "" : `${item.owner.kind} ${item.owner.id}`;
    if (some.length === MOST_LIMITS || (owners.size === MOST_OWNERS && !owners.has(name))) {
      yield some;
      some = [];
      owners.clear();
    }
    some.push(item);
    owners.add(name);
  }
  if (some.length > 0) yield some;
}

/** The stored windows, in the order of the request; null for a missing one. */
async function look(
  store: KeyStore,
  workspaceId: string,
  asked: readonly (WindowLimit & { readonly owner: RecordAddress | null })[],
): Promise<readonly (LimitState | null)[]> {
  const takings = asked.map(({ window, owner, algorithm, duration }) => ({
    window,
    owner,
    cost: 0,
    limit: { algorithm, duration, limit: Number.MAX_SAFE_INTEGER, burst: 1 },
  }));
  const result = await store.charge(planOf(workspaceId, takings, "peek"), AS_STORED);
  if ("limits" in result)
    return asked.map((kind, at) => stateOfReading(result.limits[at] as LimitReading, kind));
  // A record that has been deleted meanwhile has none; the others are read separately.
  if (asked.length === 1) return [null];
  return (await Promise.all(asked.map((each) => look(store, workspaceId, [each])))).flat();
}

/** Those of these windows that are stored, in the order of the request. */
export async function readWindows<
  Asked extends WindowLimit & { readonly owner: RecordAddress | null },
>(
  store: KeyStore,
  workspaceId: string,
  asked: readonly Asked[],
): Promise<readonly (Asked & FoundWindow)[]> {
  const plans = [...inPlans(asked)];
  const stored = (await Promise.all(plans.map((some) => look(store, workspaceId, some)))).flat();
  return asked.flatMap((each, at) => {
    const found = stored[at] ?? null;
    return found === null ? [] : [{ ...each, found }];
  });
}

/** Writes windows that do not exist yet, by taking the same units again at the same instant. */
export async function writeWindows(
  store: KeyStore,
  workspaceId: string,
  windows: readonly (FoundWindow & { readonly owner: RecordAddress | null })[],
): Promise<void> {
  const left = windows.map(({ window, owner, found, ...kind }) => ({
    window,
    owner,
    takings: [...takingsOf(found, kind)],
  }));
  // Charges of one window run one after the other, those of different windows in parallel.
  for (;;) {
    const byMoment = new Map<number, OwnedTaking[]>();
    for (const { window, owner, takings } of left) {
      const next = takings.shift();
      if (next === undefined) continue;
      const { now, limit, cost } = next;
      byMoment.set(now, [...(byMoment.get(now) ?? []), { window, owner, limit, cost }]);
    }
    if (byMoment.size === 0) return;
    const charges = [...byMoment].flatMap(([now, takings]) =>
      Array.from(inPlans(takings), (some) =>
        store.charge(planOf(workspaceId, some, "commit"), { now, refill: null }),
      ),
    );
    await Promise.all(charges);
  }
}

/** Windows by name. */
export type FoundWindows = ReadonlyMap<string, FoundWindow>;

/** Names of windows of limits without an owner, by workspace. */
export type WindowNames = ReadonlyMap<string, readonly string[]>;

/**
 * The names of the windows of all workspaces, if one walk through the store finds them; null for a store that is asked for those of each
 * workspace.
 */
export async function scanAllWindows(store: KeyStore): Promise<WindowNames | null> {
  if (store.scanWindows === undefined) return null;
  const names = new Map<string, string[]>();
  for (let after: string | null = null; ; ) {
    const { windows, next } = await store.scanWindows(after);
    for (const [id, found] of windows) {
      const all = names.get(id) ?? [];
      for (const name of found) all.push(name);
      names.set(id, all);
    }
    if (next === null) return names;
    after = next;
  }
}

/**
 * The windows of the workspace: those of limits without an owner.
 *
 * @param known - From {@link scanAllWindows}; windows that were created since are missing.
 */
export async function readOwnWindows(
  store: KeyStore,
  workspaceId: string,
  known: WindowNames | null = null,
): Promise<FoundWindows> {
  if (known !== null) return readNamedWindows(store, workspaceId, known.get(workspaceId) ?? []);
  const names: string[] = [];
  for await (const name of scanned(store, workspaceId)) names.push(name);
  return readNamedWindows(store, workspaceId, names);
}

/** Those of these windows that the workspace has. Names that core did not make are skipped. */
export async function readNamedWindows(
  store: KeyStore,
  workspaceId: string,
  names: readonly string[],
): Promise<FoundWindows> {
  const all = [...new Set(names)].flatMap((window): WindowLimit[] => {
    const kind = kindOfWindow(window);
    return kind === null ? [] : [{ window, ...kind }];
  });
  const found = new Map<string, FoundWindow>();
  for (const some of piecesOf(all, MOST_AT_ONCE)) {
    const asked = some.map((limit) => ({ ...limit, owner: null }));
    for (const { owner: _, ...window } of await readWindows(store, workspaceId, asked))
      found.set(window.window, window);
  }
  return found;
}

/** All names that a scan returns. */
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

/** A window of a workspace as one text, for the digest. */
export function windowText(workspaceId: string, { window, found }: FoundWindow): string {
  return `${workspaceId} window ${window} ${stateFields(found).join(" ")}`;
}

/** The state of a limit, as in texts and backups. */
export function stateFields({ at, used, earlier }: LimitState): readonly (number | string)[] {
  return earlier.length === 0 ? [at, used] : [at, used, earlier.join(",")];
}
