import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { dirname, resolve } from "node:path";
import * as core from "@latchkey/core";

/** The name of the row that maps a claimed name to its record. */
const nameOf = ({ kind, index, value }: core.Claim) => ["claim", kind, index, value];

/** The name of the row of a sum. */
const nameOfSum = ({ subject: { kind, id }, hourAt, code }: core.SumName) => [
  "sum",
  kind,
  id,
  hourAt,
  code,
];

/** When a row may be deleted: a day late, for clocks that are set back, and by the machine's clock, because a caller's may be wrong. */
const keptFor = (until: number, now: number) => Date.now() + until - now + 86_400_000;

/** Tables by path: two stores on one file in one process share a table. */
const tables = new Map<string, Table>();

/**
 * Opens or creates a store in a JSON file. Only one process at a time may use the file.
 *
 * A commit is on disk when it resolves. Charges and statistics get there with the next commit, or when the store is closed.
 */
export function jsonFileStore(path: string): core.KeyStore {
  const table = tables.get(resolve(path)) ?? new Table(resolve(path));
  tables.set(table.path, table);
  table.handles += 1;
  let isOpen = true;
  const inStep = <Result>(workspaceId: string, call: (step: Step) => Result): Result => {
    if (!isOpen) throw core.unavailable("the store is closed");
    const step = new Step(table, workspaceId);
    const result = call(step);
    step.end();
    return structuredClone(result);
  };
  return {
    read: async (id, wants) =>
      inStep(id, (step) => ({
        revision: step.revision,
        found: wants.map((want) => step.load(want)),
      })),
    page: async (id, want) => inStep(id, (step) => step.page(want)),
    commit: async (id, change) => {
      const result = inStep(id, (step) => step.commit(change));
      if (result.kind === "committed") table.save();
      return result;
    },
    charge: (plan, moment) =>
      inStep(plan.workspaceId, (step) => core.plainCharge(step.book(moment.now), plan, moment)),
    settle: async (id, given, moment) =>
      inStep(id, (step) => core.plainSettle(step.book(moment.now), given, moment)),
    countsInStep: true,
    holds: async (id, ...page) => inStep(id, (step) => step.book(0).page(...page)),
    addStatistics: async (id, batch) => inStep(id, (step) => step.addStatistics(batch)),
    readStatistics: async (id, range) => inStep(id, (step) => step.statistics().read(range)),
    pageStatistics: async (id, want) => inStep(id, (step) => step.statistics().page(want)),
    nextStatisticsDay: async (id, from) => inStep(id, (step) => step.statistics().nextDay(from)),
    deleteStatistics: async (id, ...given) =>
      inStep(id, (step) => step.statistics().delete(...given)),
    scan: async (id) =>
      inStep(id ?? "", (step) => ({ names: step.names(id === null), next: null })),
    forget: async (id) => inStep(id, (step) => step.forget()),
    close: async () => {
      if (isOpen) table.handles -= 1;
      if (isOpen && table.handles === 0) tables.delete(table.path) && table.save();
      isOpen = false;
    },
  };
}

/** The rows of a file by name: a workspace, the type of the row, and its subject. */
class Table {
  readonly rows: Map<string, ReturnType<typeof JSON.parse>>;
  handles = 0;

  constructor(readonly path: string) {
    this.rows = new Map(fs.existsSync(path) ? JSON.parse(fs.readFileSync(path, "utf8")) : []);
  }

  /** Deletes expired rows and counters without a record, and replaces the file: a crash leaves the old or the new one. */
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

/** One atomic step on the rows of a workspace: it never awaits, and its writes take effect only at its end. */
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

  load(want: core.Want): core.LoadedRecord | null {
    const state = this.state(want.kind, "id" in want ? want.id : this.get(...nameOf(want)));
    const link = state?.record.link ?? null;
    return state && { ...state, linked: link === null ? null : this.state("identity", link) };
  }

  state(kind: core.RecordKind, id: string): core.StoredRecordState | null {
    const { record, counters, usedAt } = this.get("record", kind, id) ?? {};
    return record ? { record, usage: this.get("uses", counters) ?? null, usedAt } : null;
  }

  page(want: core.PageWant): core.PageResult {
    const { kind, list } = want;
    const ids = (of: string | null) =>
      this.all("entry").flatMap(({ name }) => (name[0] === list && name[1] === of ? name[2] : []));
    const listed = ids(want.of ?? null).flatMap((id) => this.load({ kind, id }) ?? []);
    const { revision, last } = this;
    return { revision, ...core.plainPage(listed, want), size: ids(null).length, last };
  }

  get revision(): number {
    return this.get("revision") ?? 0;
  }

  /** The highest version of an entry of the audit log. */
  get last(): number {
    return this.get("last") ?? 1;
  }

  commit(change: core.Change): core.CommitResult {
    const judged = core.judgeChange<string>(change, {
      ...this.book(0),
      holder: (claim) => this.get("record", claim.kind, this.get(...nameOf(claim)))?.record.id,
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
    return { kind: "committed", usages: judged.usages };
  }

  put({ record, counters: wanted }: core.Put): void {
    const name = ["record", record.kind, record.id];
    let { version } = record;
    if (record.kind === "auditEntry") {
      version ||= this.get(...name)?.record.version ?? this.last + 1;
      this.set(["last"], Math.max(this.last, version));
    }
    const row = { counters: null, usedAt: null, ...this.get(...name) };
    row.record = { ...record, version };
    if (wanted !== undefined && "usage" in wanted) {
      row.counters = randomUUID();
      this.set(["uses", row.counters], wanted.usage);
    } else if (wanted) row.counters = this.get("record", record.kind, wanted.sharedWith).counters;
    this.set(name, row);
  }

  book(now: number) {
    return {
      ...core.plainHoldBook<string>({
        all: () => this.all("hold").map(({ value }) => value),
        set: (found) => this.set(["hold", found.hold.id], found),
        delete: (id) => this.set(["hold", id], undefined),
        counters: ({ kind, id }) => this.get("record", kind, id)?.counters ?? null,
      }),
      revision: () => this.revision,
      version: ({ kind, id }) => this.get("record", kind, id)?.record.version ?? null,
      remembered: (id) => this.get("end", id) ?? null,
      remember: (id, end) => this.set(["end", id], { ...end, keptUntil: keptFor(end.until, now) }),
      request: (of, id) => this.get("request", of?.kind, of?.id, id) ?? null,
      setRequest: (of, id, it) =>
        this.set(["request", of?.kind, of?.id, id], { ...it, keptUntil: keptFor(it.until, now) }),
      usage: (own) => this.get("uses", own),
      setUsage: (own, usage) => this.set(["uses", own], usage),
      window: (own, name) => this.get("window", own ?? "", name) ?? null,
      setWindow: (own, name, window, endsAt) => {
        const keptUntil = own === null ? keptFor(endsAt, now) : undefined;
        this.set(["window", own ?? "", name], { ...window, keptUntil });
      },
      addStatistics: (batch) => this.addStatistics(batch),
    } satisfies core.WorkspaceBook<string> & object;
  }

  /** The names of all workspaces, or of all windows without a record. */
  names(isOfAll: boolean): string[] {
    if (isOfAll) return Array.from(this.table.rows.keys(), (text) => JSON.parse(text)[0]);
    return this.all("window").flatMap(({ name }) => (name[0] === "" ? [name[1]] : []));
  }

  addStatistics({ counts, uses }: core.StatisticsBatch): void {
    this.statistics().add(counts);
    for (const { kind, id, usedAt } of uses) {
      const row = this.get("record", kind, id);
      if (row)
        this.set(["record", kind, id], { ...row, usedAt: Math.max(row.usedAt ?? 0, usedAt) });
    }
  }

  statistics() {
    return core.plainStatistics({
      all: () => this.all("sum").map(({ value }) => value),
      count: (of) => this.get(...nameOfSum(of))?.count ?? 0,
      set: (sum) => this.set(nameOfSum(sum), sum),
      delete: (of) => this.set(nameOfSum(of), undefined),
    });
  }

  /** Deletes everything in one step, because the file is always written as a whole. */
  forget(): null {
    for (const text of this.table.rows.keys())
      if (JSON.parse(text)[0] === this.workspaceId) this.table.rows.delete(text);
    this.table.save();
    return null;
  }
}
