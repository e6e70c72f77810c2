import { LatchkeyError } from "../errors.js";
import type { RandomBytes } from "../lib/id.js";
import { createLruCache } from "../lib/lru-cache.js";
import { drawVersion } from "../rules/record-version.js";
import type { SpanMs } from "../time.js";
import { afterWriting } from "./after-writing.js";
import { type Change, type CommitResult, EMPTY_CHANGE, type RecordAddress } from "./change.js";
import type { ChargeMoment, ChargePlan, ChargeResult } from "./charge.js";
import { runBeside } from "./intercept.js";
import type {
  KeyStore,
  LoadedRecord,
  PageResult,
  PageWant,
  ReadResult,
  Want,
} from "./key-store.js";
import type { HoldMoment, HoldResult, HoldStep } from "./settle.js";
import type { StatisticsBatch } from "./statistics.js";
import {
  type LeaseTimes,
  leaseTimesOf,
  leaveTrail,
  nameOf,
  notesOf,
  STATE_ADDRESS,
  settledBy,
  stateOf,
  stateRecord,
  type Touched,
  touchedBy,
} from "./workspace-state.js";

/** The known state of a workspace that was open at a revision. */
interface KnownState {
  readonly revision: number;
  /** Version of the record with its state; null for none. */
  readonly version: number | null;
  readonly trail: string | null;
  readonly leases: LeaseTimes | null;
  readonly isDeleting: boolean;
  /** What this process has noted in the trail. */
  readonly noted: Set<string>;
}

/** Workspaces that are remembered if they were used last, and most notes of each. */
const MOST_KNOWN = 10_000;

/** Most subjects of statistics that are looked up. */
const MOST_ASKED = 20;

const MESSAGES = {
  incomplete: "this store is incomplete: a copy or a restore to it has not finished",
  moved: "the keys of this store have moved to another store: open that one",
  deleting: "this workspace is being deleted: nothing is written to it",
} as const;

/** A store that knows whether a workspace may be used, and its lease times. */
export interface AvailableStore extends KeyStore {
  /** The lease times at a revision; undefined if the state of the workspace is not cached. */
  leases(
    workspaceId: string,
  ): { readonly revision: number; readonly leases: LeaseTimes | null } | undefined;
  /** How long a change waits for leases, 0 without. For a workspace that is no longer cached, the longest wait that was ever read. */
  leaseWait(workspaceId: string): SpanMs;
  /**
   * Writes new lease times, which every process notices by the revision, unless `beside` is gone. @returns The lease times afterwards, and
   * the version of the record that holds them; null for none.
   */
  changeLeases(
    workspaceId: string,
    change: (before: LeaseTimes | null, version: number | null) => LeaseTimes | null,
    beside?: RecordAddress,
  ): Promise<{ readonly times: LeaseTimes | null; readonly version: number | null }>;
}

/**
 * A store that rejects with `STORE_UNAVAILABLE` for a workspace that may not be used.
 *
 * The state of a workspace changes together with its revision, which every read returns and every charge of a key confirms. So the state is
 * read again only if the revision has changed; a commit expects the state itself.
 */
export function createAvailabilityStore(store: KeyStore, random: RandomBytes): AvailableStore {
  // Half of such a cache is certain to be what was used last.
  const known = createLruCache<KnownState>(2 * MOST_KNOWN);
  const followed = new Set<string>();
  let longestWait = 0;

  function learn(workspaceId: string, revision: number, loaded: LoadedRecord | null): KnownState {
    const state = stateOf(loaded);
    const before = known.get(workspaceId);
    known.delete(workspaceId);
    if (state?.state === "incomplete" || state?.state === "moved") throw refusal(state.state);
    const version = loaded?.record.version ?? null;
    const leases = leaseTimesOf(loaded);
    longestWait = Math.max(longestWait, leases?.wait ?? 0);
    const learned = {
      revision,
      version,
      trail: state?.state === "followed" ? state.trail : null,
      leases,
      isDeleting: state?.state === "deleting",
      noted: before?.version === version ? before.noted : new Set<string>(),
    };
    known.set(workspaceId, learned);
    if (learned.trail === null) followed.delete(workspaceId);
    else followed.add(workspaceId);
    return learned;
  }

  async function readWithState(workspaceId: string, wants: readonly Want[]): Promise<ReadResult> {
    const { revision, found } = await store.read(workspaceId, [...wants, STATE_ADDRESS]);
    learn(workspaceId, revision, found.at(-1) ?? null);
    return { revision, found: found.slice(0, -1) };
  }

  // No `async`, here and in `page`: every read of a key goes through here.
  function read(workspaceId: string, wants: readonly Want[]): Promise<ReadResult> {
    if (known.get(workspaceId) === undefined) return readWithState(workspaceId, wants);
    return store.read(workspaceId, wants).then((result) => {
      const isKnown = result.revision === known.get(workspaceId)?.revision;
      return isKnown ? result : readWithState(workspaceId, wants);
    });
  }

  function page(workspaceId: string, want: PageWant): Promise<PageResult> {
    return store.page(workspaceId, want).then((result) => {
      if (result.revision === known.get(workspaceId)?.revision) return result;
      return readWithState(workspaceId, []).then(({ revision }) =>
        result.revision === revision ? result : page(workspaceId, want),
      );
    });
  }

  // No `async` here either, for callers that create one key after another.
  function commit(
    workspaceId: string,
    change: Change,
    others?: readonly Touched[],
  ): Promise<CommitResult> {
    // A change that expects the state itself comes from the deletion of the workspace.
    if (change.expects.some(isStateAddress)) return store.commit(workspaceId, change);
    const { version = null, trail = null, isDeleting = false } = known.get(workspaceId) ?? {};
    if (isDeleting) return readWritable(workspaceId).then(() => commit(workspaceId, change));
    const expects = [...change.expects, { ...STATE_ADDRESS, version }];
    const written = trail === null ? change : leaveTrail(change, trail, others);
    return store.commit(workspaceId, { ...written, expects }).then((result) => {
      if (result.kind !== "stale" || result.index !== change.expects.length) return result;
      return readWithState(workspaceId, []).then(() => commit(workspaceId, change, others));
    });
  }

  /** Adds the sums first, so that a reader of the trail finds them. Counts must not recreate a workspace that is being deleted or gone. */
  async function addStatistics(workspaceId: string, batch: StatisticsBatch): Promise<void> {
    const counted = [...batch.counts.map(({ subject }) => subject), ...batch.uses];
    const state = await stateToCount(workspaceId, counted);
    if (state === "gone") return;
    await store.addStatistics(workspaceId, batch);
    if (state !== "followed" && !followed.has(workspaceId)) return;
    // The sums are added, whatever becomes of the trail: an error would make the caller add them again.
    await runBeside(() => commit(workspaceId, EMPTY_CHANGE, counted)).catch(() => undefined);
  }

  /**
   * The state of the workspace that counts are written to. A workspace that is deleted or being deleted is `gone`, and gets none. With
   * revision 0, no API was ever deleted: a missing one was deleted with its workspace.
   */
  async function stateToCount(workspaceId: string, subjects: readonly RecordAddress[]) {
    const apis = subjects.filter(({ kind }) => kind === "api");
    const some = (apis.length > 0 ? apis : subjects).slice(0, MOST_ASKED);
    const wants = [STATE_ADDRESS, ...some];
    const { revision, found } = await runBeside(() => store.read(workspaceId, wants));
    const [loaded = null, ...others] = found;
    const state = stateOf(loaded)?.state;
    const isThere = revision > 0 || some.length === 0 || others.some((other) => other !== null);
    if (state === "deleting" || !isThere) return "gone";
    // Read from the store, because this process may not have made a call since a copy began to follow.
    return state === "followed" ? "followed" : "there";
  }

  async function readState(workspaceId: string): Promise<KnownState> {
    const { revision, found } = await store.read(workspaceId, [STATE_ADDRESS]);
    return learn(workspaceId, revision, found[0] ?? null);
  }

  /** @throws LatchkeyError `STORE_UNAVAILABLE` if the workspace is being deleted. */
  async function readWritable(workspaceId: string): Promise<KnownState> {
    const state = await readState(workspaceId);
    if (state.isDeleting) throw refusal("deleting");
    return state;
  }

  /** Notes in the trail what a charge may change, before the charge, once for each state. @returns Whether the state was still this one. */
  async function note(plan: ChargePlan, { version, trail, noted }: KnownState): Promise<boolean> {
    if (trail === null) return true;
    const missing = touchedBy(plan).filter((each) => !noted.has(nameOf(each)));
    if (missing.length === 0) return true;
    const expects = [{ ...STATE_ADDRESS, version }];
    const change = { ...leaveTrail(EMPTY_CHANGE, trail, missing), expects };
    if ((await store.commit(plan.workspaceId, change)).kind !== "committed") return false;
    if (noted.size >= MOST_KNOWN) noted.clear();
    for (const each of missing) noted.add(nameOf(each));
    return true;
  }

  /**
   * The note comes first: a copy that ends a trail and then reads it finds everything that was charged until then, because the charge
   * confirms that the state is still the one of the note, and that the store has not lost the note.
   */
  async function charge(plan: ChargePlan, moment: ChargeMoment): Promise<ChargeResult> {
    const { workspaceId, revision } = plan;
    const { ends } = moment;
    if (ends !== undefined) {
      // In a step of its own, so that the trail has what it touched.
      await settle(workspaceId, ends, { now: moment.now, revision });
      return charge(plan, { ...moment, ends: undefined });
    }
    const readAnew = revision === null ? readWritable : readState;
    let state = known.get(workspaceId);
    const isKnown = revision === null ? state?.isDeleting !== true : state?.revision === revision;
    if (!isKnown) state = await readAnew(workspaceId);
    for (;;) {
      if (state === undefined || (await note(plan, state))) {
        const trail = state?.trail ?? null;
        if (revision !== null && trail === null) return store.charge(plan, moment);
        const beside = trail === null ? [] : notesOf(plan, trail);
        // The plan has no revision that would reveal a changed state.
        if (revision === null) beside.push({ ...STATE_ADDRESS, version: state?.version ?? null });
        const confirms = [...plan.confirms, ...beside];
        const result = await store.charge({ ...plan, confirms, memo: undefined }, moment);
        if (result.kind !== "stale" || !(Number(result.moved) >= plan.confirms.length))
          return result;
        // A note may be lost.
        state?.noted.clear();
      }
      state = await readAnew(workspaceId);
    }
  }

  /** What a step has touched is only known afterwards: a copy that ends in between misses no more than what was returned. */
  function settle(workspaceId: string, step: HoldStep, moment: HoldMoment): Promise<HoldResult> {
    const state = known.get(workspaceId);
    const again = () => readWritable(workspaceId).then(() => settle(workspaceId, step, moment));
    if (state === undefined || state.isDeleting) return again();
    const { revision } = state;
    return store.settle(workspaceId, step, { ...moment, revision }).then((result) => {
      if (result.kind === "stale") return again();
      if (!followed.has(workspaceId)) return result;
      const touched = [...settledBy(step, result), ...(moment.counts ?? [])];
      return afterWriting(() => commit(workspaceId, EMPTY_CHANGE, touched)).then(() => result);
    });
  }

  async function changeLeases(
    ...[workspaceId, change, beside]: Parameters<AvailableStore["changeLeases"]>
  ): ReturnType<AvailableStore["changeLeases"]> {
    const besides = beside === undefined ? [] : [{ ...beside, version: "exists" } as const];
    for (;;) {
      const { revision, found } = await store.read(workspaceId, [STATE_ADDRESS]);
      const [loaded = null] = found;
      const { version, leases } = learn(workspaceId, revision, loaded);
      const after = change(leases, version);
      const isSame = after?.grant === leases?.grant && after?.wait === leases?.wait;
      const record = stateRecord(stateOf(loaded), drawVersion(random, version ?? 0), after);
      const result = await store.commit(workspaceId, {
        ...EMPTY_CHANGE,
        expects: [...besides, { ...STATE_ADDRESS, version }],
        ...(!isSame && { puts: [{ record }], revision: drawVersion(random, revision) }),
      });
      if (result.kind === "committed")
        return { times: after, version: isSame ? version : record.version };
      if (result.kind === "stale" && result.index < besides.length)
        return { times: leases, version };
    }
  }

  return {
    ...unchanged(store),
    ...(store.countsInStep && { countsInStep: true }),
    leases: (workspaceId) => known.get(workspaceId),
    leaseWait(workspaceId) {
      const state = known.get(workspaceId);
      return state === undefined ? longestWait : (state.leases?.wait ?? 0);
    },
    changeLeases,
    read,
    page,
    settle,
    commit: (workspaceId, change) => commit(workspaceId, change),
    charge: (plan, moment) =>
      followed.size === 0 && plan.revision !== null
        ? store.charge(plan, moment)
        : charge(plan, moment),
    addStatistics,
    async deleteStatistics(workspaceId, beforeAt, limit, of) {
      const result = await store.deleteStatistics(workspaceId, beforeAt, limit, of);
      // A deletion for all subjects does not say which of them had sums; it can be repeated on the target.
      if (of !== undefined && followed.has(workspaceId))
        await commit(workspaceId, EMPTY_CHANGE, of);
      return result;
    },
    ...(store.readClock !== undefined && {
      readClock: () => (store.readClock as () => Promise<number>)(),
    }),
  };
}

/** Methods of the store that need no state of a workspace. */
const UNCHANGED = [
  "holds",
  "readStatistics",
  "pageStatistics",
  "nextStatisticsDay",
  "scan",
  "forget",
  "close",
] as const;

function unchanged(store: KeyStore) {
  const calls = UNCHANGED.map((name) => {
    const call = (...given: readonly unknown[]) => Reflect.apply(store[name], store, given);
    return [name, call] as const;
  });
  return Object.fromEntries(calls) as unknown as Pick<KeyStore, (typeof UNCHANGED)[number]>;
}

function isStateAddress({ kind, id }: RecordAddress): boolean {
  return kind === STATE_ADDRESS.kind && id === STATE_ADDRESS.id;
}

function refusal(state: keyof typeof MESSAGES): LatchkeyError {
  return new LatchkeyError("STORE_UNAVAILABLE", MESSAGES[state], {
    outcome: "not-applied",
    reason: state,
  });
}
