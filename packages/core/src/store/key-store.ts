import type { RecordKind, StoredRecord } from "../records/stored-record.js";
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

/** A record with what the store keeps beside it, as one consistent snapshot. */
export interface StoredRecordState {
  readonly record: StoredRecord;
  /** Null for a record without counters. */
  readonly usage: Usage | null;
  /** Latest instant of use that `addStatistics` brought (Unix epoch ms), or null. */
  readonly usedAt: EpochMs | null;
  /**
   * The store's own way to find the record again. It comes back with expectations and means nothing to anybody else; the
   * record may be gone by then.
   */
  readonly handle?: unknown;
}

/** A record, and the identity that its `link` names: null without a link, and where that identity does not exist. */
export interface LoadedRecord extends StoredRecordState {
  readonly linked: StoredRecordState | null;
}

/** A record by its id, or by a name that it has claimed. */
export type Want = RecordAddress | Claim;

/** What {@link KeyStore.read} answers. */
export interface ReadResult {
  /** Of the workspace, as the latest change that brought one says; 0 before. */
  readonly revision: number;
  /** In the order of the wants; null where there is no such record. */
  readonly found: readonly (LoadedRecord | null)[];
}

/** Which part of a list is wanted. */
export interface PageWant {
  /** Of the records in the list. */
  readonly kind: RecordKind;
  readonly list: string;
  /** As in `ListEntry`. */
  readonly of?: string | undefined;
  /** Ids above this one, below it in descending order; null for the first page. It need not be in the list. */
  readonly after: string | null;
  /** 1 to 1,000. */
  readonly limit: number;
  /** Latest first. Ascending unless given. */
  readonly descending?: boolean | undefined;
  /**
   * Of the list `auditEntry` alone: its records in the order of their versions, those of one version in the order of their ids, and not
   * in that of ids alone. The page begins with this place, whether or not a record is there; `after` and `descending` say nothing.
   */
  readonly from?: LogPlace | undefined;
}

/** A place among the entries of the audit log. */
export interface LogPlace {
  readonly version: number;
  /** Empty: before all of that version. */
  readonly id: string;
}

/** What {@link KeyStore.page} answers. */
export interface PageResult {
  readonly revision: number;
  /** In the order of the list. Ids whose record is gone are left out, and more are read instead. */
  readonly found: readonly LoadedRecord[];
  /** Whether records follow the last of these. */
  readonly hasMore: boolean;
  /**
   * Exact number of ids in the list of that name, whatever `of` says, also of those whose record is gone; kept as a counter,
   * never a scan.
   */
  readonly size: number;
  /** With `from`: the highest version that an entry of the audit log ever had; 1 before the first. */
  readonly last?: number | undefined;
}

/** What {@link KeyStore.scan} answers. */
export interface ScanResult {
  /** In no order. A name may come twice, and one that went meanwhile may come too. */
  readonly names: readonly string[];
  /** Where to go on; null at the end. */
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
 * Every method rejects (and `charge`, which may answer at once, throws or rejects) with a `LatchkeyError`: `STORE_UNAVAILABLE`
 * if the store cannot be reached, does not answer in time or is closed, with an `outcome` that says whether a write may have
 * happened; `STORE_CORRUPT` if the store cannot have written what it keeps beside the bodies. A call that might charge twice is
 * never retried.
 *
 * `describeKeyStore` of `@latchkey/conformance` tests all of this.
 */
export interface KeyStore {
  /** Records with the revision, all of one moment. @param wants - 0 to 20,000. */
  read(workspaceId: string, wants: readonly Want[]): Promise<ReadResult>;
  /**
   * The next records of a list. Each record is one snapshot; which they are may have been read a moment before, so that a
   * record deleted meanwhile is missing from its page.
   */
  page(workspaceId: string, want: PageWant): Promise<PageResult>;
  /**
   * Carries out a change as `Change` says. Durable when it resolves, and so is all that could be read before: core commits a change of
   * nothing for that. The only way to write records.
   */
  commit(workspaceId: string, change: Change): Promise<CommitResult>;
  /**
   * Confirms what a plan rests on, then moves counters exactly as `applyCharge` says. It never moves a version. A store that
   * need not wait may answer at once.
   */
  charge(plan: ChargePlan, moment: ChargeMoment): ChargeResult | Promise<ChargeResult>;
  /**
   * Does with holds exactly what `applyHoldStep` says. What it answers is as durable as what `charge` answers. A record goes together with
   * the holds beside its counters, when these go: one of a deleted key is `unknown`, and what it took from an identity comes back when its
   * time has passed, at the latest. Of what a process took ahead (its id begins with `lse_`) that comes back when it ends.
   */
  settle(workspaceId: string, step: HoldStep, moment: HoldMoment): Promise<HoldResult>;
  /** Holds beside the counters of a record in ascending order of id, those above `after`, at most `limit`; also those that are over. */
  holds(
    workspaceId: string,
    of: RecordAddress,
    after: string | null,
    limit: number,
  ): Promise<readonly Hold[]>;
  /**
   * Adds to the sums of verifications, and raises `usedAt` of records; it never goes back. Records that do not exist are passed
   * over. No verdict waits for it.
   */
  addStatistics(workspaceId: string, batch: StatisticsBatch): Promise<void>;
  /** The sums of a range, in ascending order of the hour. */
  readStatistics(workspaceId: string, range: StatisticsRange): Promise<readonly HourCount[]>;
  /**
   * The sums of a day, subject by subject, also of those whose record is gone: `limit` of them, and those that the last subject has more, or fewer
   * where there are no more. Ids with other characters than `A-Z a-z 0-9 _ . : -` may be left out.
   */
  pageStatistics(workspaceId: string, want: StatisticsPageWant): Promise<StatisticsPage>;
  /**
   * Forgets sums of hours before `beforeAt`, a start of a day of UTC, at most about `limit` of them.
   *
   * @param limit - 1 to 1,000.
   * @param of - Those of these subjects alone, at most 200; of all unless given.
   */
  deleteStatistics(
    workspaceId: string,
    beforeAt: EpochMs,
    limit: number,
    of?: readonly StatisticsSubject[],
  ): Promise<DeletedCount>;
  /**
   * Names that no list contains, for copying a store. Of a workspace: its windows of limits without an owner, which a plan in mode
   * `peek` can then read. Of null: the workspaces that anything was written to, perhaps with partitions that belong to no workspace. A
   * name that exists during the whole scan is returned; others may be.
   *
   * @param after - `next` of the previous call; null for the first one.
   */
  scan(workspaceId: string | null, after: string | null): Promise<ScanResult>;
  /**
   * Deletes everything of a workspace, in bounded steps. The last step, which is durable, deletes its records of the kind `workspace` and
   * the revision. Then it is as if nothing had ever been written to it. The caller makes sure that nobody writes to it meanwhile.
   *
   * @param after - The result of the previous call; null for the first one.
   * @returns The position to continue from; null if nothing is left.
   */
  forget(workspaceId: string, after: string | null): Promise<string | null>;
  /**
   * Whether `charge` adds what a plan `counts` to the sums of verifications in the same step, and `settle` what a moment `counts`: both or neither
   * happen. Without it, `usage: { durable: true }` is refused. {@link countedByCharge} and {@link countedBySettle} say what is added.
   */
  readonly countsInStep?: true;
  /** The store's own clock, if it has one: Unix epoch ms. */
  readClock?(): Promise<EpochMs>;
  /** Closes what the store opened itself. You can call it twice. Later calls of other methods reject with `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}
