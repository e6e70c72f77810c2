import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { dirname, resolve } from "node:path";
import * as core from "@latchkey/core";

/** The name of the row that says which record has a name. */
const nameOf = ({ kind, index, value }: core.Claim) => ["claim", kind, index, value];

/** A day longer, for clocks that are set back. By the machine's clock: that of a caller may be wrong. */
const keptFor = (until: number, now: number) => Date.now() + until - now + 86_400_000;

/** Two stores on one file, in one process, are two handles of one table. */
const tables = new Map<string, Table>();

/**
 * Opens a store in a JSON file, or makes one. One process may use the file at a time.
 *
 * A commit is on disk when it resolves. Charges and statistics get there with the next commit, or when the store is closed.
 */
export function jsonFileStore(path: string): core.KeyStore {
  const table = tables.get(resolve(path)) ?? new Table(resolve(path));
  tables.set(table.path, table);
  table.handles += 1;
  let isOpen = true;
  const begin = (workspaceId: string) => {
    if (isOpen) return new Step(table, workspaceId);
    throw core.unavailable("the store is closed");
  };
  return {
    read: async (workspaceId, wants) => structuredClone(begin(workspaceId).read(wants)),
    page: async (workspaceId, want) => structuredClone(begin(workspaceId).page(want)),
    commit: async (workspaceId, change) => begin(workspaceId).commit(change),
    charge: (plan, moment) => structuredClone(begin(plan.workspaceId).charge(plan, moment)),
    settle: async (id, step, moment) => structuredClone(begin(id).settle(step, moment)),
    countsInStep: true,
    holds: async (id, ...page) =>
      structuredClone(
        begin(id)
          .book(0)
          .page(...page),
      ),
    addStatistics: async (workspaceId, batch) => begin(workspaceId).addStatistics(batch),
    readStatistics: async (workspaceId, range) => begin(workspaceId).readStatistics(range),
    pageStatistics: async (workspaceId, want) => begin(workspaceId).pageStatistics(want),
    nextStatisticsDay: async (workspaceId, from) => begin(workspaceId).nextStatisticsDay(from),
    deleteStatistics: async (id, ...given) => begin(id).deleteStatistics(...given),
    scan: async (id) => ({ names: begin(id ?? "").names(id === null), next: null }),
    forget: async (id) => begin(id).forget(),
    close: async () => {
      if (isOpen) table.handles -= 1;
      if (isOpen && table.handles === 0) tables.delete(table.path) && table.save();
      isOpen = false;
    },
  };
}

/** The rows of a file, by name: a workspace, what the row is, and of what. */
class Table {
  readonly rows: Map<string, ReturnType<typeof JSON.parse>>;
  handles = 0;

  constructor(readonly path: string) {
    this.rows = new Map(fs.existsSync(path) ? JSON.parse(fs.readFileSync(path, "utf8")) : []);
  }

  /** Forgets what time has ended and counters that no record has, and replaces the file: a crash leaves the old or the new. */
  save(): void {
    const held = new Set(["", ...[...this.rows.values()].map(({ counters }) => counters)]);
    for (const [name, row] of this.rows) {
      const [, type, holder] = JSON.parse(name);
      let isLeft = (type === "uses" || type === "window") && !held.has(holder);
      if (type === "hold") {
        row.counters = row.counters.map((own: string) => (held.has(own) ? own : null));
        isLeft = row.counters.every((own: string | null) => own === null);
      }
      if (isLeft || row.keptUntil < Date.now()) this.rows.delete(name);
    }
    const [file, text] = [`${this.path}.new`, JSON.stringify([...this.rows])];
    fs.writeFileSync(file, text, { mode: 0o600, flush: true });
    fs.renameSync(file, this.path);
    const directory = fs.openSync(dirname(this.path), "r");
    fs.fsyncSync(directory);
    fs.closeSync(directory);
  }
}

/** One step on the rows of a workspace. Nothing in it awaits, and what it writes is there once it ends: so it is atomic. */
class Step {
  /** Undefined deletes. */
  readonly #written = new Map<string, unknown>();

  constructor(
    readonly table: Table,
    readonly workspaceId: string,
  ) {}

  get(...name: unknown[]) {
    const text = JSON.stringify([this.workspaceId, ...name]);
    return this.#written.has(text) ? this.#written.get(text) : this.table.rows.get(text);
  }

  set(name: unknown[], value: unknown): void {
    this.#written.set(JSON.stringify([this.workspaceId, ...name]), value);
  }

  /** The rows of a type, by the rest of their names. */
  all(type: string) {
    return [...new Map([...this.table.rows, ...this.#written])].flatMap(([text, value]) => {
      const [workspaceId, own, ...name] = JSON.parse(text);
      const isOne = workspaceId === this.workspaceId && own === type && value !== undefined;
      return isOne ? [{ name, value: value as ReturnType<typeof JSON.parse> }] : [];
    });
  }

  /** Copies what was written, so that no caller can change it. */
  end(): void {
    for (const [name, value] of structuredClone(this.#written))
      if (value === undefined) this.table.rows.delete(name);
      else this.table.rows.set(name, value);
  }

  read(wants: readonly core.Want[]): core.ReadResult {
    return { revision: this.get("revision") ?? 0, found: wants.map((want) => this.load(want)) };
  }

  load(want: core.Want): core.LoadedRecord | null {
    const state = this.state(want.kind, "id" in want ? want.id : this.get(...nameOf(want)));
    const link = state?.record.link ?? null;
    return state && { ...state, linked: link === null ? null : this.state("identity", link) };
  }

  state(kind: core.RecordKind, id: string): core.StoredRecordState | null {
    const { record, counters, usedAt } = this.get("record", kind, id) ?? {};
    return record ? { record, usage: this.get("uses", counters) ?? null, usedAt } : null;
  }

  page({ kind, list, of, after, limit, descending, from }: core.PageWant): core.PageResult {
    const ids = this.ids(list, of);
    let found = (descending ? ids.reverse() : ids).flatMap((id) => this.load({ kind, id }) ?? []);
    if (from === undefined)
      found = found.filter(
        ({ record: { id } }) => after === null || (descending ? id < after : id > after),
      );
    else
      found = found
        .sort(({ record: one }, { record: other }) => one.version - other.version)
        .filter(({ record: { version, id } }) =>
          version === from.version ? id >= from.id : version > from.version,
        );
    const [size, hasMore] = [this.ids(list).length, found.length > limit];
    const last = this.get("last") ?? 1;
    const revision = this.get("revision") ?? 0;
    return { revision, found: found.slice(0, limit), hasMore, size, last };
  }

  ids(list: string, of: string | null = null): string[] {
    const entries = this.all("entry").filter(({ name }) => name[0] === list && name[1] === of);
    return entries.map(({ name }) => name[2]).sort();
  }

  version({ kind, id }: core.RecordAddress): number | null {
    return this.get("record", kind, id)?.record.version ?? null;
  }

  commit(change: core.Change): core.CommitResult {
    const judged = core.judgeChange<string>(change, {
      version: (address) => this.version(address),
      holder: (claim) => this.get("record", claim.kind, this.get(...nameOf(claim)))?.record.id,
      counters: ({ kind, id }) => this.get("record", kind, id)?.counters ?? null,
      usage: (counters) => this.get("uses", counters),
    });
    if (judged.kind !== "committed") return judged;
    for (const [counters, usage] of judged.moved) this.set(["uses", counters], usage);
    for (const claim of change.releases)
      if (this.get(...nameOf(claim)) === claim.id) this.set(nameOf(claim), undefined);
    for (const put of change.puts) this.put(put);
    for (const claim of change.claims) this.set(nameOf(claim), claim.id);
    for (const wanted of change.counters) {
      const { counters } = this.get("record", wanted.kind, wanted.id);
      const { keepWindows, dropWindows = [] } = wanted;
      for (const { name } of this.all("window").filter(({ name: [holder] }) => holder === counters))
        if (dropWindows.includes(name[1]) || keepWindows?.includes(name[1]) === false)
          this.set(["window", ...name], undefined);
    }
    for (const { kind, id } of change.deletes) this.set(["record", kind, id], undefined);
    for (const { list, of = null, id } of change.leaves)
      this.set(["entry", list, of, id], undefined);
    for (const { list, of = null, id } of change.enters) this.set(["entry", list, of, id], true);
    for (const name of change.dropWindows) this.set(["window", "", name], undefined);
    if (change.revision !== null) this.set(["revision"], change.revision);
    this.end();
    this.table.save();
    return { kind: "committed", usages: judged.usages };
  }

  put({ record, counters: wanted }: core.Put): void {
    const name = ["record", record.kind, record.id];
    let { version } = record;
    if (record.kind === "auditEntry") {
      const last = this.get("last") ?? 1;
      version ||= this.version(record) ?? last + 1;
      this.set(["last"], Math.max(last, version));
    }
    const row = {
      counters: null,
      usedAt: null,
      ...this.get(...name),
      record: { ...record, version },
    };
    if (wanted !== undefined && "usage" in wanted) {
      row.counters = randomUUID();
      this.set(["uses", row.counters], wanted.usage);
    } else if (wanted) row.counters = this.get("record", record.kind, wanted.sharedWith).counters;
    this.set(name, row);
  }

  charge(plan: core.ChargePlan, moment: core.ChargeMoment): core.ChargeResult {
    const { now, ends } = moment;
    if (ends !== undefined) this.settle(ends, { now, revision: plan.revision });
    const result = this.move(plan, moment);
    const counted = core.countedByCharge(plan, moment, result);
    if (counted !== null) this.addStatistics(counted);
    return result;
  }

  move(plan: core.ChargePlan, moment: core.ChargeMoment): core.ChargeResult {
    const { revision, confirms, limits, uses } = plan;
    if (revision !== null && revision !== (this.get("revision") ?? 0))
      return { kind: "stale", moved: "revision" };
    const moved = confirms.findIndex((one) => !core.isVersion(this.version(one), one.version));
    if (moved !== -1) return { kind: "stale", moved };
    // Empty for the workspace. Null for a record that does not exist: nothing is ever written for it.
    const holders = confirms.map(({ kind, id }) => this.get("record", kind, id)?.counters ?? null);
    const holderOf = (owner: number | null) => (owner === null ? "" : holders[owner]);
    const windows = limits.map((at) => this.get("window", holderOf(at.owner), at.window) ?? null);
    const usage =
      uses === null ? core.UNLIMITED_USES : (this.get("uses", holders[uses]) ?? core.NO_USES);
    const request = ["request", confirms[0]?.kind, confirms[0]?.id, moment.request?.id];
    const remembered = this.get(...request) ?? null;
    const holds = holders.map((counters) => this.get("uses", counters)?.holds);
    const state = { usage, windows, remembered, holds };
    const { result, next } = core.applyCharge(state, plan, moment);
    if (next === null) return result;
    if (holderOf(uses)) this.set(["uses", holderOf(uses)], next.usage);
    for (const [index, limit] of limits.entries()) {
      const { owner, window: name } = limit;
      const window = next.windows[index] ?? null;
      if (window === null || holderOf(owner) === null) continue;
      const keptUntil =
        owner === null ? keptFor(core.endsAt(window, limit), moment.now) : undefined;
      this.set(["window", holderOf(owner), name], { ...window, keptUntil });
    }
    const { remember } = next;
    if (remember !== null)
      this.set(request, { ...remember, keptUntil: keptFor(remember.until, moment.now) });
    const sums = next.held?.sums ?? [];
    for (const [at, holds] of sums.entries())
      if (holders[at] !== null)
        this.set(["uses", holders[at]], { ...this.get("uses", holders[at]), holds });
    for (const hold of next.held?.holds ?? [])
      this.set(["hold", hold.id], { hold, counters: holders.slice(0, sums.length) });
    this.end();
    return result;
  }

  settle(step: core.HoldStep, moment: core.HoldMoment): core.HoldResult {
    const { now, revision } = moment;
    if (revision !== null && revision !== (this.get("revision") ?? 0)) return { kind: "stale" };
    const result = core.applyHoldStep(this.book(now), step, now);
    this.end();
    const counted = core.countedBySettle(moment, result);
    if (counted !== null) this.addStatistics(counted);
    return result;
  }

  book(now: number) {
    return {
      ...core.plainHoldBook<string>({
        all: () => this.all("hold").map(({ value }) => value),
        set: (found) => this.set(["hold", found.hold.id], found),
        delete: (id) => this.set(["hold", id], undefined),
        counters: ({ kind, id }) => this.get("record", kind, id)?.counters ?? null,
      }),
      remembered: (id) => this.get("end", id) ?? null,
      remember: (id, end) => this.set(["end", id], { ...end, keptUntil: keptFor(end.until, now) }),
      usage: (own) => this.get("uses", own),
      setUsage: (own, usage) => this.set(["uses", own], usage),
      window: (own, name) => this.get("window", own ?? "", name) ?? null,
      setWindow: (own, name, window, endsAt) =>
        this.setWindow(own ?? "", name, window, keptFor(endsAt, now)),
    } satisfies core.HoldBook<string> & object;
  }

  /** @param holder - Counters; empty for the workspace, which keeps a window for a while. */
  setWindow(holder: string, name: string, window: core.LimitState, until: number): void {
    const keptUntil = holder === "" ? until : undefined;
    this.set(["window", holder, name], { ...window, keptUntil });
  }

  /** Of all workspaces, or of the windows that no record holds. */
  names(isOfAll: boolean): string[] {
    if (isOfAll) return Array.from(this.table.rows.keys(), (text) => JSON.parse(text)[0]);
    return this.all("window").flatMap(({ name }) => (name[0] === "" ? [name[1]] : []));
  }

  addStatistics({ counts, uses }: core.StatisticsBatch): void {
    for (const { subject, hourAt, code, count } of counts) {
      const name = ["sum", subject.kind, subject.id, hourAt, code];
      this.set(name, Math.min(count + (this.get(...name) ?? 0), Number.MAX_SAFE_INTEGER));
    }
    for (const { kind, id, usedAt } of uses) {
      const row = this.get("record", kind, id);
      if (row)
        this.set(["record", kind, id], { ...row, usedAt: Math.max(row.usedAt ?? 0, usedAt) });
    }
    this.end();
  }

  readStatistics({ subject, startAt, endAt }: core.StatisticsRange): core.HourCount[] {
    return this.all("sum")
      .filter(({ name: [kind, id] }) => kind === subject.kind && id === subject.id)
      .map(({ name: [, , hourAt, code], value }) => ({ hourAt, code, count: value }))
      .filter(({ hourAt }) => hourAt >= startAt && hourAt < endAt)
      .sort((one, other) => one.hourAt - other.hourAt);
  }

  pageStatistics({ kind, dayAt, from, limit }: core.StatisticsPageWant): core.StatisticsPage {
    const sums = this.all("sum")
      .map(({ name: [of, id, hourAt, code], value }) => ({
        subject: { kind: of, id },
        hourAt,
        code,
        count: value,
      }))
      .filter(
        ({ subject, hourAt }) => subject.kind === kind && subject.id >= from && hourAt >= dayAt,
      )
      .filter(({ hourAt }) => hourAt < dayAt + 86_400_000)
      .sort((one, other) => (one.subject.id < other.subject.id ? -1 : 1));
    return core.wholeSubjects(sums.slice(0, limit + core.MOST_SUMS_A_DAY), limit);
  }

  nextStatisticsDay(from: number): number | null {
    const days = this.all("sum").map(({ name: [, , hourAt] }) => hourAt - (hourAt % 86_400_000));
    return days.filter((dayAt) => dayAt >= from).sort((one, other) => one - other)[0] ?? null;
  }

  deleteStatistics(
    beforeAt: number,
    limit: number,
    of?: readonly core.StatisticsSubject[],
  ): core.DeletedCount {
    const isOf = (name: readonly unknown[]) =>
      of === undefined || of.some(({ kind, id }) => name[0] === kind && name[1] === id);
    const old = this.all("sum").filter(({ name }) => name[2] < beforeAt && isOf(name));
    for (const { name } of old.slice(0, limit)) this.set(["sum", ...name], undefined);
    this.end();
    return { deleted: Math.min(old.length, limit), hasMore: old.length > limit };
  }

  /** All at once: the file is written whole anyway. */
  forget(): null {
    for (const text of this.table.rows.keys())
      if (JSON.parse(text)[0] === this.workspaceId) this.table.rows.delete(text);
    this.table.save();
    return null;
  }
}
