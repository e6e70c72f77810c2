import {
  type Change,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type Claim,
  type CommitResult,
  EMPTY_CHANGE,
  type EpochMs,
  type FoundHold,
  type Hold,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
  type HourCount,
  judgeChange,
  kindOfWindow,
  type LimitState,
  type ListEntry,
  type PageWant,
  plainCharge,
  plainHoldBook,
  plainPage,
  plainSettle,
  plainStatistics,
  type RecordAddress,
  type RememberedCharge,
  type RememberedEnd,
  type StatisticsBatch,
  type StatisticsRange,
  type StoredRecord,
  type SubjectCount,
  type SumName,
  type Usage,
  type Want,
  type WorkspaceBook,
} from "@latchkey/core";
import { DAY } from "../fixtures/records.js";

/** A record of the model, with the name of its counters, which several records may share. */
interface ModelRecord {
  record: StoredRecord;
  counters: string | null;
  usedAt: number | null;
}

interface ModelCounters {
  readonly name: string;
  usage: Usage;
  windows: Map<string, LimitState>;
}

interface ModelHold {
  readonly hold: Hold;
  readonly counters: readonly (string | null)[];
}

/** A workspace in the simplest form: no order, no index, and a complete copy for each change. */
class ModelWorkspace {
  revision = 0;
  lastEntry = 1;
  records = new Map<string, ModelRecord>();
  counters = new Map<string, ModelCounters>();
  claims = new Map<string, string>();
  lists = new Map<string, Set<string>>();
  windows = new Map<string, LimitState>();
  requests = new Map<string, RememberedCharge>();
  /** Each with the names of the counters that it is kept beside; null for deleted ones. */
  holds = new Map<string, ModelHold>();
  ends = new Map<string, RememberedEnd>();
  sums = new Map<string, SubjectCount>();
}

const nameOf = (...parts: readonly (string | number | null | undefined)[]) => JSON.stringify(parts);
const addressOf = ({ kind, id }: RecordAddress) => nameOf(kind, id);
const claimOf = ({ kind, index, value }: Claim) => nameOf(kind, index, value);
const listOf = ({ list, of }: Pick<ListEntry, "list" | "of">) => nameOf(list, of ?? null);

/** What a store returns for one state, without handles. */
export interface ModelState {
  readonly record: StoredRecord;
  readonly usage: Usage | null;
  readonly usedAt: number | null;
}

/** The model that every store is compared with: the port as its docstrings describe it, for one caller at a time. */
export class ModelStore {
  readonly #workspaces = new Map<string, ModelWorkspace>();
  #nextCounters = 1;

  revision(workspaceId: string): number {
    return this.#workspace(workspaceId).revision;
  }

  /** The record, or null. */
  find(workspaceId: string, want: Want): (ModelState & { linked: ModelState | null }) | null {
    const found = this.#find(this.#workspace(workspaceId), want);
    if (found === undefined) return null;
    const { link } = found.record;
    const identity = link === null ? null : { kind: "identity" as const, id: link };
    const linked = identity && this.#find(this.#workspace(workspaceId), identity);
    return {
      ...this.#state(workspaceId, found),
      linked: linked ? this.#state(workspaceId, linked) : null,
    };
  }

  /** Names of a record, even a deleted one. */
  namesOf(workspaceId: string, { kind, id }: RecordAddress): readonly Claim[] {
    return [...this.#workspace(workspaceId).claims].flatMap(([name, holder]) => {
      const [kindOfName, index, value] = JSON.parse(name) as [Claim["kind"], string, string];
      return holder === id && kindOfName === kind ? [{ kind, index, value }] : [];
    });
  }

  page(workspaceId: string, want: PageWant) {
    const { lists, revision, lastEntry } = this.#workspace(workspaceId);
    const listed = [...(lists.get(listOf(want)) ?? [])].flatMap(
      (id) => this.find(workspaceId, { kind: want.kind, id }) ?? [],
    );
    return {
      revision,
      ...plainPage(listed, want),
      size: lists.get(listOf({ list: want.list }))?.size ?? 0,
      ...(want.from && { last: lastEntry }),
    };
  }

  commit(workspaceId: string, change: Change): CommitResult {
    const before = this.#workspace(workspaceId);
    const stale = change.expects.findIndex(({ version, ...address }) => {
      const current = before.records.get(addressOf(address))?.record.version ?? null;
      return version === "exists" ? current === null : version !== current;
    });
    if (stale !== -1) return { kind: "stale", index: stale };
    const after = structuredClone(before);
    for (const release of change.releases)
      if (after.claims.get(claimOf(release)) === release.id) after.claims.delete(claimOf(release));
    const taken = change.claims.findIndex((claim, index) => {
      const isGiven = change.claims.slice(0, index).some((one) => claimOf(one) === claimOf(claim));
      const holder = after.claims.get(claimOf(claim)) ?? claim.id;
      const isLive = before.records.has(nameOf(claim.kind, holder));
      return isGiven || (holder !== claim.id && isLive);
    });
    if (taken !== -1) return { kind: "taken", index: taken };
    for (const claim of change.claims) after.claims.set(claimOf(claim), claim.id);
    const judged = judgeChange<ModelCounters>(
      { ...EMPTY_CHANGE, counters: change.counters },
      {
        version: () => null,
        holder: () => undefined,
        counters: (address) => this.#countersOf(after, address) ?? null,
        usage: ({ usage }) => usage,
      },
    );
    if (judged.kind !== "committed") return judged;
    for (const [counters, usage] of judged.moved) counters.usage = usage;
    for (const wanted of change.counters) {
      const { windows } = this.#countersOf(after, wanted) as ModelCounters;
      for (const name of [...windows.keys()])
        if (wanted.keepWindows?.includes(name) === false || wanted.dropWindows?.includes(name))
          windows.delete(name);
    }
    this.#write(after, change);
    this.#workspaces.set(workspaceId, after);
    return { kind: "committed", usages: judged.usages };
  }

  /**
   * Whether a store may have forgotten a part of a window of the workspace: slots that were not given back, or what a bucket counted. A
   * store forgets a window a day after its end.
   */
  mayBeForgotten(workspaceId: string, window: string, now: EpochMs): boolean {
    const state = this.#workspace(workspaceId).windows.get(window);
    if (state === undefined || now - state.at < DAY) return false;
    const algorithm = kindOfWindow(window)?.algorithm;
    return algorithm === "concurrent"
      ? state.used > 0
      : algorithm === "token-bucket" && state.earlier.length > 0;
  }

  charge(plan: ChargePlan, moment: ChargeMoment): ChargeResult {
    return plainCharge(this.#book(plan.workspaceId), plan, moment);
  }

  settle(workspaceId: string, step: HoldStep, moment: HoldMoment): HoldResult {
    return plainSettle(this.#book(workspaceId), step, moment);
  }

  /** The holds of a record's counters. */
  holds(workspaceId: string, of: RecordAddress): readonly Hold[] {
    return this.#book(workspaceId).page(of, null, Number.POSITIVE_INFINITY);
  }

  #found({ counters }: ModelWorkspace, held: ModelHold): FoundHold<ModelCounters> {
    const beside = held.counters.map((name) => (name === null ? null : counters.get(name)));
    return { hold: held.hold, counters: beside.map((each) => each ?? null) };
  }

  #book(workspaceId: string) {
    const workspace = this.#workspace(workspaceId);
    const { holds, ends, requests } = workspace;
    const holder = (counters: ModelCounters | null) => (counters ?? workspace).windows;
    const requestOf = (of: RecordAddress | undefined, id: string) =>
      nameOf(of && addressOf(of), id);
    return {
      ...plainHoldBook<ModelCounters>({
        all: () => [...holds.values()].map((held) => this.#found(workspace, held)),
        set: ({ hold, counters }) =>
          holds.set(hold.id, { hold, counters: counters.map((each) => each?.name ?? null) }),
        delete: (id) => holds.delete(id),
        counters: (of) => this.#countersOf(workspace, of) ?? null,
      }),
      revision: () => workspace.revision,
      version: (of) => workspace.records.get(addressOf(of))?.record.version ?? null,
      remembered: (id) => ends.get(id) ?? null,
      remember: (id, end) => ends.set(id, end),
      request: (of, id) => requests.get(requestOf(of, id)) ?? null,
      setRequest: (of, id, charge) => requests.set(requestOf(of, id), charge),
      usage: ({ usage }) => usage,
      setUsage: (counters, usage) => {
        counters.usage = usage;
      },
      window: (counters, name) => holder(counters).get(name) ?? null,
      setWindow: (counters, name, state) => holder(counters).set(name, state),
      addStatistics: (batch) => this.addStatistics(workspaceId, batch),
    } satisfies WorkspaceBook<ModelCounters> & object;
  }

  addStatistics(workspaceId: string, { counts, uses }: StatisticsBatch): void {
    this.#statistics(workspaceId).add(counts);
    const { records } = this.#workspace(workspaceId);
    for (const { usedAt, ...address } of uses) {
      const found = records.get(addressOf(address));
      if (found !== undefined) found.usedAt = Math.max(usedAt, found.usedAt ?? 0);
    }
  }

  readStatistics(workspaceId: string, range: StatisticsRange): readonly HourCount[] {
    return this.#statistics(workspaceId).read(range);
  }

  /** Deletes all sums before an instant, and returns their number. */
  deleteStatistics(workspaceId: string, beforeAt: number): number {
    return this.#statistics(workspaceId).delete(beforeAt, Number.POSITIVE_INFINITY).deleted;
  }

  #statistics(workspaceId: string) {
    const { sums } = this.#workspace(workspaceId);
    const sumOf = ({ subject: { kind, id }, hourAt, code }: SumName) =>
      nameOf(kind, id, hourAt, code);
    return plainStatistics({
      all: () => [...sums.values()],
      count: (of) => sums.get(sumOf(of))?.count ?? 0,
      set: (sum) => sums.set(sumOf(sum), sum),
      delete: (of) => sums.delete(sumOf(of)),
    });
  }

  #write(workspace: ModelWorkspace, change: Change): void {
    const { records, counters, lists, holds } = workspace;
    for (const { record, counters: wanted } of change.puts) {
      const known = records.get(addressOf(record));
      let name = known?.counters ?? null;
      if (wanted !== undefined && "usage" in wanted) {
        name = String(this.#nextCounters++);
        counters.set(name, { name, usage: wanted.usage, windows: new Map() });
      } else if (wanted !== undefined) {
        name = records.get(nameOf(record.kind, wanted.sharedWith))?.counters ?? null;
      }
      const isEntry = record.kind === "auditEntry";
      const next = isEntry ? workspace.lastEntry + 1 : 0;
      const given = record.version || ((isEntry ? known?.record.version : null) ?? next);
      if (isEntry) workspace.lastEntry = Math.max(workspace.lastEntry, given);
      records.set(addressOf(record), {
        record: { ...record, version: given },
        counters: name,
        usedAt: known?.usedAt ?? null,
      });
    }
    for (const address of change.deletes) records.delete(addressOf(address));
    const live = new Set([...records.values()].map((each) => each.counters));
    for (const [id, { hold, counters: beside }] of holds) {
      const left = beside.map((each) => (live.has(each) ? each : null));
      if (left.every((each) => each === null)) holds.delete(id);
      else holds.set(id, { hold, counters: left });
    }
    for (const { id, ...list } of change.leaves) lists.get(listOf(list))?.delete(id);
    for (const { id, ...list } of change.enters)
      lists.set(listOf(list), new Set([...(lists.get(listOf(list)) ?? []), id]));
    for (const name of change.dropWindows) workspace.windows.delete(name);
    workspace.revision = change.revision ?? workspace.revision;
  }

  #workspace(workspaceId: string): ModelWorkspace {
    const known = this.#workspaces.get(workspaceId) ?? new ModelWorkspace();
    this.#workspaces.set(workspaceId, known);
    return known;
  }

  #find({ records, claims }: ModelWorkspace, want: Want): ModelRecord | undefined {
    const id = "id" in want ? want.id : claims.get(claimOf(want));
    return id === undefined ? undefined : records.get(nameOf(want.kind, id));
  }

  #countersOf(workspace: ModelWorkspace, address: RecordAddress): ModelCounters | undefined {
    const name = workspace.records.get(addressOf(address))?.counters ?? null;
    return name === null ? undefined : workspace.counters.get(name);
  }

  #state(workspaceId: string, { record, usedAt }: ModelRecord): ModelState {
    const counters = this.#countersOf(this.#workspace(workspaceId), record);
    return { record, usage: counters?.usage ?? null, usedAt };
  }
}
