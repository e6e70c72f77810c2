import { judgeChange } from "../adapters/judge-change.js";
import type { RecordType } from "../records/record-type.js";
import type { Change, Claim, CommitResult, RecordAddress } from "../store/change.js";
import type { Usage } from "../store/counters.js";
import type { KeyStore, LoadedRecord, ReadResult, Want } from "../store/key-store.js";

/**
 * Records, claims, counters and a revision in maps: the part of a store that transactions and the catalog need. It keeps no lists, links or
 * windows; the obligations of real stores are tested on real stores.
 */
export class TestStore implements Pick<KeyStore, "read" | "commit"> {
  revision = 0;
  /** Every read and every change that was handed in, including those that wrote nothing. */
  readonly reads: (readonly Want[])[] = [];
  readonly changes: Change[] = [];
  readonly #records = new Map<string, LoadedRecord>();
  readonly #claims = new Map<string, string>();

  /** Writes a record unconditionally, as another process might. */
  put<Value>(type: RecordType<Value>, value: Value, usage: Usage | null = null): void {
    const record = type.encode(value);
    const { kind, id } = record;
    const before = this.#records.get(addressOf({ kind, id }));
    this.#records.set(addressOf({ kind, id }), {
      record,
      usage: usage ?? before?.usage ?? null,
      usedAt: null,
      linked: null,
    });
    for (const claim of type.claims(value)) this.#claims.set(nameOf({ kind, ...claim }), id);
  }

  /** Damages a record: its body becomes undefined. */
  damage(address: RecordAddress): void {
    const state = this.#records.get(addressOf(address));
    if (state === undefined) throw new Error(`no ${addressOf(address)} to damage`);
    const record = { ...state.record, body: undefined };
    this.#records.set(addressOf(address), { ...state, record });
  }

  remove(address: RecordAddress): void {
    this.#records.delete(addressOf(address));
  }

  get(address: RecordAddress): LoadedRecord | null {
    return this.#records.get(addressOf(address)) ?? null;
  }

  async read(_workspaceId: string, wants: readonly Want[]): Promise<ReadResult> {
    this.reads.push(wants);
    return { revision: this.revision, found: wants.map((want) => this.#find(want)) };
  }

  async commit(_workspaceId: string, change: Change): Promise<CommitResult> {
    this.changes.push(change);
    const judged = judgeChange<LoadedRecord>(change, {
      version: (address) => this.get(address)?.record.version ?? null,
      holder: (claim) => this.#claims.get(nameOf(claim)),
      counters: (address) => this.get(address),
      usage: ({ usage }) => usage as Usage,
    });
    if (judged.kind !== "committed") return judged;
    const { usages } = judged;
    this.#write(change, usages);
    return { kind: "committed", usages };
  }

  #write(change: Change, usages: readonly Usage[]): void {
    for (const release of change.releases) this.#claims.delete(nameOf(release));
    for (const claim of change.claims) this.#claims.set(nameOf(claim), claim.id);
    for (const address of change.deletes) this.remove(address);
    for (const { record, counters } of change.puts) {
      const before = this.get(record)?.usage ?? null;
      const usage = counters !== undefined && "usage" in counters ? counters.usage : before;
      this.#records.set(addressOf(record), { record, usage, usedAt: null, linked: null });
    }
    change.counters.forEach((address, index) => {
      const state = this.get(address);
      const usage = usages[index];
      if (state !== null && usage !== undefined)
        this.#records.set(addressOf(address), { ...state, usage });
    });
    this.revision = change.revision ?? this.revision;
  }

  #find(want: Want): LoadedRecord | null {
    if ("id" in want) return this.get(want);
    const id = this.#claims.get(nameOf(want));
    return id === undefined ? null : this.get({ kind: want.kind, id });
  }
}

function addressOf({ kind, id }: RecordAddress): string {
  return `${kind} ${id}`;
}

function nameOf({ kind, index, value }: Claim): string {
  return `${kind} ${index} ${value}`;
}
