import { corruptRecord, hasCode, unavailable } from "../errors.js";
import type { RandomBytes } from "../lib/id.js";
import { createExclusive, type Exclusive } from "../lib/promises.js";
import { DEADLINE_STAGES, deadlineOf, deadlineType } from "../records/notices.js";
import type {
  Expiry,
  RecordClaim,
  RecordKind,
  RecordList,
  RecordType,
  StoredRecord,
} from "../records/record-type.js";
import { drawVersion } from "../rules/record-version.js";
import {
  type Claim,
  type CounterChange,
  EMPTY_CHANGE,
  type Expectation,
  emptyChange,
  type RecordAddress,
} from "./change.js";
import type { Usage, UsageRefusal } from "./counters.js";
import type { KeyStore, LoadedRecord, Want } from "./key-store.js";

/** Attempts after which a transaction gives up. Concurrent calls of this process take turns, so only other processes can get in between. */
const MAX_ATTEMPTS = 100;

/** A record to read, and what the commit expects of it if it exists: by default, the version that was read. */
export type TransactionWant = Want & { readonly expects?: "version" | "exists" | "nothing" };

type TransactionStore = Pick<KeyStore, "read" | "commit">;

export interface WriteOptions {
  /** For a new record: its use counter, or the record of the same kind that it shares one with. Omitted: no counter. */
  readonly counters?: { readonly usage: Usage } | { readonly sharedWith: string } | undefined;
  /** The error if a unique name of the record is taken. Omitted: the transaction runs again, and finds the holder. */
  readonly onTaken?: (() => Error) | undefined;
}

/** What an operation reads, and what it will write. Either all of it is written, if everything that was read still holds, or nothing. */
export class Transaction {
  readonly workspaceId: string;
  /** Whether an earlier attempt failed: then do not rely on what was known before. */
  readonly isRetry: boolean;
  /** Revision of the workspace at the latest read; 0 before the first. */
  revision = 0;
  /** Records that are missing: looked up by id and not found, or not found by what the operation asked. A `NOT_FOUND` rests on them. */
  readonly absent: RecordAddress[] = [];
  readonly #store: TransactionStore;
  readonly #random: RandomBytes;
  readonly #change = emptyChange();
  readonly #onTaken: ((() => Error) | undefined)[] = [];
  readonly #onRefused: ((reason: UsageRefusal) => Error)[] = [];

  constructor(store: TransactionStore, random: RandomBytes, workspaceId: string, isRetry: boolean) {
    this.#store = store;
    this.#random = random;
    this.workspaceId = workspaceId;
    this.isRetry = isRetry;
  }

  /** Reads records as one snapshot. The commit expects of each existing record what its want says. */
  async read(wants: readonly TransactionWant[]): Promise<readonly (LoadedRecord | null)[]> {
    const { revision, found } = await this.#store.read(this.workspaceId, wants);
    this.revision = revision;
    found.forEach((loaded, index) => {
      const want = wants[index];
      const expects = want?.expects ?? "version";
      if (loaded === null && want !== undefined && "id" in want)
        this.absent.push({ kind: want.kind, id: want.id });
      if (loaded === null || expects === "nothing") return;
      const { kind, id, version } = loaded.record;
      const { handle } = loaded;
      this.expect({ kind, id, version: expects === "exists" ? expects : version, handle });
    });
    return found;
  }

  async readOne(want: TransactionWant): Promise<LoadedRecord | null> {
    const [loaded = null] = await this.read([want]);
    return loaded;
  }

  expect(expectation: Expectation): void {
    this.#change.expects.push(expectation);
  }

  /** The commit expects that there is no such record: a store that failed over may have it back. */
  expectAbsent({ kind, id }: RecordAddress): void {
    this.expect({ kind, id, version: null });
  }

  /** The commit expects a record that was read: unchanged, unless its version cannot be read, or `exists` is enough. */
  expectFound(
    { record: { kind, id, version }, handle }: Pick<LoadedRecord, "record" | "handle">,
    expects?: "exists",
  ): void {
    this.expect({ kind, id, version: expects ?? (version >= 1 ? version : "exists"), handle });
  }

  insert<Value>(type: RecordType<Value>, value: Value, options: WriteOptions = {}): void {
    const record = type.encode(value);
    const { kind, id } = record;
    this.#change.puts.push({ record, counters: options.counters });
    // No spreads: they make createKey 7 % slower in memory.
    for (const { index, value: name } of type.claims(value)) {
      this.#change.claims.push({ kind, id, index, value: name });
      this.#onTaken.push(options.onTaken);
    }
    for (const { list, of } of type.lists(value)) this.#change.enters.push({ list, of, id });
    this.#awaitExpiry(type.expiry(value));
  }

  /** Overwrites a record; its lists may change. `keepsVersion`: true if only uses change, so that no process has to read it again. */
  update<Value>(
    type: RecordType<Value>,
    before: Value,
    after: Value,
    keepsVersion: boolean = false,
  ): void {
    const record = type.encode(after);
    // The version of an entry of the audit log is its number.
    if (keepsVersion || record.kind === "auditEntry") this.#change.puts.push({ record });
    else this.putAnew(record);
    const [old, now] = [type.lists(before), type.lists(after)];
    for (const list of old)
      if (!includesList(now, list)) this.#change.leaves.push({ ...list, id: record.id });
    for (const list of now)
      if (!includesList(old, list)) this.#change.enters.push({ ...list, id: record.id });
    const [was, is] = [type.expiry(before), type.expiry(after)];
    if (was?.at === is?.at) return;
    this.#forgetExpiry(was);
    this.#awaitExpiry(is);
  }

  delete<Value>(type: RecordType<Value>, value: Value): void {
    const { kind, id } = type.encode(value);
    this.deleteAddress({ kind, id }, type.claims(value), type.lists(value));
    this.#forgetExpiry(type.expiry(value));
  }

  /** From now on an expiry is noticed when it comes. */
  #awaitExpiry(expiry: Expiry | null): void {
    if (expiry !== null) this.insert(deadlineType, deadlineOf("soon", expiry, this.workspaceId));
  }

  /** From now on an expiry is no longer noticed, whatever its stage. */
  #forgetExpiry(expiry: Expiry | null): void {
    if (expiry === null) return;
    for (const stage of DEADLINE_STAGES)
      this.delete(deadlineType, deadlineOf(stage, expiry, this.workspaceId));
  }

  /** Deletes a record of which only these parts are known, because the rest cannot be read. */
  deleteAddress(
    address: RecordAddress,
    claims: readonly RecordClaim[],
    lists: readonly RecordList[],
  ): void {
    this.#change.deletes.push(address);
    for (const claim of claims) this.#change.releases.push({ ...address, ...claim });
    for (const list of lists) this.#change.leaves.push({ ...list, id: address.id });
  }

  /** Gives a record a unique name besides those of its type. If it is taken, the transaction runs again. */
  claim(claim: Claim, id: string): void {
    this.#change.claims.push({ ...claim, id });
    this.#onTaken.push(undefined);
  }

  /** Frees a name that {@link claim} gave, if it is this record's. */
  release(claim: Claim, id: string): void {
    this.#change.releases.push({ ...claim, id });
  }

  /** Writes a stored record under another version. */
  putAnew(record: StoredRecord): void {
    const version = drawVersion(this.#random, record.version);
    this.#change.puts.push({ record: { ...record, version } });
  }

  /** Writes a stored record with the version that it has. Its lists and claims stay. */
  rewrite(record: StoredRecord): void {
    this.#change.puts.push({ record });
  }

  /** Changes the counters of a record, as they are at the commit. `onRefused`: the error if they refuse. */
  changeCounters(change: CounterChange, onRefused: (reason: UsageRefusal) => Error): void {
    this.#change.counters.push(change);
    this.#onRefused.push(onRefused);
  }

  dropWindows(windows: readonly string[]): void {
    this.#change.dropWindows.push(...windows);
  }

  /** Ids of the records of a kind that it expects or writes, each once. `isThere`: without those that it expects to be absent. */
  idsOf(kind: RecordKind, isThere: boolean = false): readonly string[] {
    const { expects, puts } = this.#change;
    const expected = isThere ? expects.filter(({ version }) => version !== null) : expects;
    const addresses = [...expected, ...puts.map(({ record }) => record)];
    return [...new Set(addresses.filter((one) => one.kind === kind).map(({ id }) => id))];
  }

  /** Whether it has anything to write so far. */
  get isWriting(): boolean {
    const { expects: _, revision, ...parts } = this.#change;
    return revision !== null || Object.values(parts).some((part) => part.length > 0);
  }

  /** Tells every process to read APIs, roles, permissions and the workspace again. */
  renewRevision(): void {
    this.#change.revision = drawVersion(this.#random, this.revision);
  }

  /** @internal Commits. @returns The use counters that were changed; null to run it again: a read no longer holds, or a name is taken. */
  async commit(): Promise<readonly Usage[] | null> {
    const result = await this.#store.commit(this.workspaceId, this.#change);
    switch (result.kind) {
      case "committed":
        return result.usages;
      case "stale":
        return null;
      case "taken": {
        const onTaken = this.#onTaken[result.index];
        if (onTaken !== undefined) throw onTaken();
        return null;
      }
      case "refused": {
        const onRefused = this.#onRefused[result.index];
        throw onRefused === undefined ? corruptRecord("counters") : onRefused(result.reason);
      }
      default:
        return result satisfies never;
    }
  }
}

/** Thrown by an operation that finds that its reads are stale: it runs again on fresh reads. */
export class StaleReadError extends Error {}

export interface TransactionResult<Answer> {
  readonly answer: Answer;
  /** The use counter after each of the transaction's counter changes, in their order. */
  readonly usages: readonly Usage[];
}

/** Runs transactions over a store. */
export type Transact = <Answer>(
  workspaceId: string,
  work: (transaction: Transaction) => Promise<Answer>,
) => Promise<TransactionResult<Answer>>;

/**
 * Makes a {@link Transact}: an operation reads what it needs, decides, and says what to write. That is committed if everything it read
 * still holds. Otherwise the operation runs again on fresh reads. It must have no effect of its own before it resolves.
 *
 * An operation that has nothing to write is committed too, as an empty change: what resolves is durable.
 *
 * From their second attempt on, concurrent calls of one process take turns, so that each succeeds.
 *
 * @throws LatchkeyError `STORE_UNAVAILABLE`, with outcome `not-applied`, after 100 attempts; any error of the operation.
 */
export function createTransact(store: TransactionStore, random: RandomBytes): Transact {
  const exclusive: Exclusive = createExclusive();
  return async <Answer>(
    workspaceId: string,
    work: (transaction: Transaction) => Promise<Answer>,
  ) => {
    const attempt = async (isRetry: boolean) => {
      const transaction = new Transaction(store, random, workspaceId, isRetry);
      let answer: Answer;
      try {
        answer = await work(transaction);
      } catch (error) {
        if (error instanceof StaleReadError) return null;
        // A repeated deletion returns that the record is gone. This must be durable too, and still true: a store that failed over meanwhile
        // may have lost the deletion.
        if (hasCode(error, "NOT_FOUND")) {
          const expects = transaction.absent.map((address) => ({ ...address, version: null }));
          const { kind } = await store.commit(workspaceId, { ...EMPTY_CHANGE, expects });
          if (kind === "stale") return null;
        }
        throw error;
      }
      const usages = await transaction.commit();
      return usages && { answer, usages };
    };
    const first = await attempt(false);
    if (first !== null) return first;
    for (let count = 1; count < MAX_ATTEMPTS; count += 1) {
      const result = await exclusive(workspaceId, () => attempt(true));
      if (result !== null) return result;
    }
    throw unavailable(
      "records that this operation depends on kept changing; nothing was written, try again",
    );
  };
}

function includesList(lists: readonly RecordList[], { list, of }: RecordList): boolean {
  return lists.some((other) => other.list === list && other.of === of);
}
