import type { RecordKind, StoredRecord } from "../records/record-type.js";
import type { Hold } from "../rules/hold.js";
import type { EpochMs } from "../time.js";
import type { Change, Claim, CommitResult, RecordAddress } from "./change.js";
import type { ChargeMoment, ChargePlan, ChargeResult } from "./charge.js";
import type { Usage } from "./counters.js";
import type { HoldMoment, HoldResult, HoldStep } from "./settle.js";
import type {
  DeletedCount,
  HourCount,
  StatisticsBatch,
  StatisticsPage,
  StatisticsPageWant,
  StatisticsRange,
  StatisticsSubject,
} from "./statistics.js";

/** A record and its counters, as one consistent snapshot. */
export interface StoredRecordState {
  readonly record: StoredRecord;
  /** Null for a record without counters. */
  readonly usage: Usage | null;
  /** Unix epoch ms of the latest use that `addStatistics` wrote, or null. */
  readonly usedAt: EpochMs | null;
  /** The store's own reference to the record, passed back in expectations. The record may be deleted by then. */
  readonly handle?: unknown;
}

/** A record, and the identity of its `link`: null without a link, or if that identity does not exist. */
export interface LoadedRecord extends StoredRecordState {
  readonly linked: StoredRecordState | null;
}

/** A record by its id, or by a name that it has claimed. */
export type Want = RecordAddress | Claim;

/** Result of {@link KeyStore.read}. */
export interface ReadResult {
  /** Revision of the workspace; 0 before the first. */
  readonly revision: number;
  /** In the order of the wants; null if there is no such record. */
  readonly found: readonly (LoadedRecord | null)[];
}

/** A part of a list. */
export interface PageWant {
  /** Kind of the records in the list. */
  readonly kind: RecordKind;
  readonly list: string;
  /** As in `ListEntry`. */
  readonly of?: string | undefined;
  /** The page starts after this id; null for the first page. It need not be in the list. */
  readonly after: string | null;
  /** 1 to 1,000. */
  readonly limit: number;
  /** Descending order. Default: ascending. */
  readonly descending?: boolean | undefined;
  /**
   * Only for the list `auditEntry`: ordered by version, then id, from this place on, whether or not a record is there. `after` and
   * `descending` are ignored.
   */
  readonly from?: LogPlace | undefined;
}

/** A place among the entries of the audit log. */
export interface LogPlace {
  readonly version: number;
  /** Empty: before all entries with that version. */
  readonly id: string;
}

/** Result of {@link KeyStore.page}. */
export interface PageResult {
  readonly revision: number;
  /** In the order of the list. Ids of deleted records are skipped, and do not count towards `limit`. */
  readonly found: readonly LoadedRecord[];
  /** Whether more records follow. */
  readonly hasMore: boolean;
  /** Exact number of ids in the list, regardless of `of`, including those of deleted records: kept as a counter, never a scan. */
  readonly size: number;
  /** With `from`: the highest version that an entry of the audit log ever had; 1 before the first. */
  readonly last?: number | undefined;
}

/** Result of {@link KeyStore.scan}. */
export interface ScanResult {
  /** In no order, perhaps with duplicates and names deleted meanwhile. */
  readonly names: readonly string[];
  /** Position to continue from; null at the end. */
  readonly next: string | null;
}

/** Result of {@link KeyStore.scanWindows}. */
export interface WindowScanResult {
  /** Names of windows by workspace. In no order, perhaps with duplicates and names deleted meanwhile. */
  readonly windows: ReadonlyMap<string, readonly string[]>;
  /** Position to continue from; null at the end. */
  readonly next: string | null;
}

/**
 * Keeps records. A store knows no rule: it keeps records, compares versions and moves counters as the call says. Core decides what may
 * be written, and says what its decision is based on.
 *
 * Every method is one atomic step: it happens completely or not at all, and sees no other call half done. Once a write has resolved,
 * every call that starts later, in any process on the same store, sees it. Records of one workspace are invisible to every other.
 * Returned values never change afterwards, and changing an argument afterwards does not change the store.
 *
 * Every method rejects (`charge` may also throw) with a `LatchkeyError`: `STORE_UNAVAILABLE` if the store cannot be reached, does not
 * answer in time or is closed, with an `outcome` that says whether a write may have happened; `STORE_CORRUPT` if the store cannot have
 * written what it keeps besides the bodies. A call that might charge twice is never retried.
 *
 * `describeKeyStore` of `@latchkey/conformance` tests all of this.
 */
export interface KeyStore {
  /** Records with the revision, all of one moment. `wants`: 0 to 20,000. */
  read(workspaceId: string, wants: readonly Want[]): Promise<ReadResult>;
  /**
   * The next records of a list. Each record is one snapshot, but the ids may have been read a moment before: a record deleted meanwhile is
   * missing from its page.
   */
  page(workspaceId: string, want: PageWant): Promise<PageResult>;
  /**
   * Carries out a {@link Change}: the only way to write records. When it resolves, it is durable, and so is all that could be read before
   * it (core commits an empty change for that).
   */
  commit(workspaceId: string, change: Change): Promise<CommitResult>;
  /** Confirms what a plan is based on, then changes counters, but no version, exactly as `applyCharge` does. May return synchronously. */
  charge(plan: ChargePlan, moment: ChargeMoment): ChargeResult | Promise<ChargeResult>;
  /**
   * Changes holds exactly as `applyHoldStep` does, as durably as `charge`. Holds are deleted with the counters of their record: a hold of a
   * deleted key is `unknown`, and what it took from an identity is returned when it expires, at the latest. What a lease (`lse_…`) took is
   * returned when the lease ends.
   */
  settle(workspaceId: string, step: HoldStep, moment: HoldMoment): Promise<HoldResult>;
  /** Holds of a record, including expired ones, in ascending order of id: at most `limit` after the id `after`. */
  holds(
    workspaceId: string,
    of: RecordAddress,
    after: string | null,
    limit: number,
  ): Promise<readonly Hold[]>;
  /**
   * Adds to the sums of verifications, which grow to 2^53 − 1 and then stay, and raises `usedAt` of records, which never goes back. Missing
   * records are ignored. No verdict waits for it.
   */
  addStatistics(workspaceId: string, batch: StatisticsBatch): Promise<void>;
  /** The sums of a range, in ascending order of the hour. */
  readStatistics(workspaceId: string, range: StatisticsRange): Promise<readonly HourCount[]>;
  /**
   * The sums of a day, subject by subject, including deleted ones: at least `limit` if there are as many, and always whole subjects. Ids
   * with characters other than `A-Z a-z 0-9 _ . : -` may be left out.
   */
  pageStatistics(workspaceId: string, want: StatisticsPageWant): Promise<StatisticsPage>;
  /**
   * The first UTC day that has sums, of any subject: for copying a store.
   *
   * @param from - Start of the first UTC day to look at.
   * @returns The start of that day, Unix epoch ms; null if none has any.
   */
  nextStatisticsDay(workspaceId: string, from: EpochMs): Promise<EpochMs | null>;
  /**
   * Deletes about `limit` sums at most, of hours before `beforeAt`, the start of a UTC day.
   *
   * @param limit - 1 to 1,000.
   * @param of - Only sums of these subjects, at most 200. Default: all.
   */
  deleteStatistics(
    workspaceId: string,
    beforeAt: EpochMs,
    limit: number,
    of?: readonly StatisticsSubject[],
  ): Promise<DeletedCount>;
  /**
   * Names that are in no list, for copying a store. For a workspace: its windows of limits without an owner. For null: all workspaces that
   * were written to, perhaps with partitions that belong to none. Names that exist during the whole scan are returned; others may be.
   *
   * @param after - `next` of the previous call; null for the first one.
   */
  scan(workspaceId: string | null, after: string | null): Promise<ScanResult>;
  /**
   * The windows of limits without an owner of all workspaces, for copying a store that has many. Only for a store in which `scan` of one
   * workspace goes through all others as well.
   *
   * @param after - `next` of the previous call; null for the first one.
   */
  scanWindows?(after: string | null): Promise<WindowScanResult>;
  /**
   * Deletes everything of a workspace, in bounded steps. The last step, which is durable, deletes its records of the kind `workspace` and
   * the revision. Then it is as if nothing had ever been written to it. The caller makes sure that nobody writes to it meanwhile.
   *
   * @param after - The result of the previous call; null for the first one.
   * @returns The position to continue from; null if nothing is left.
   */
  forget(workspaceId: string, after: string | null): Promise<string | null>;
  /**
   * Whether `charge` and `settle` add the `counts` of a plan or a moment to the sums in the same atomic step. Required for
   * `usage: { durable: true }`. {@link countedByCharge} and {@link countedBySettle} return what to add.
   */
  readonly countsInStep?: true;
  /** The store's own clock, if it has one: Unix epoch ms. */
  readClock?(): Promise<EpochMs>;
  /** Closes what the store opened itself. You can call it twice. Later calls of other methods reject with `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}
