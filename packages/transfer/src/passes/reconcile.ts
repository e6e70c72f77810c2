import { keysOfApi, type LoadedRecord } from "@latchkey/core";
import { type Counts, count } from "../counts.js";
import { SetDigest } from "../digest.js";
import { piecesOf } from "../pieces.js";
import {
  type CopiedRecord,
  type Difference,
  readCopied,
  textOf,
  textWithoutStatistics,
} from "../records/copied-record.js";
import { raiseLogEnd } from "../records/log-end.js";
import { OwnedSubjects } from "../records/owned-subjects.js";
import type { UnownedSums } from "../records/unowned-sums.js";
import {
  type FoundWindows,
  readOwnWindows,
  scanAllWindows,
  type WindowNames,
  windowText,
} from "../records/windows.js";
import { type Target, writeDifferences } from "../records/write.js";
import { writeOwnWindows } from "../records/write-windows.js";
import { yieldToEventLoop } from "../yield.js";
import { readAhead } from "./read-ahead.js";
import { PART_SIZE, type Part, pagesOf, type RecordList, readWorkspaceRecord } from "./source.js";
import { UnownedPass } from "./unowned-pass.js";

/** The result of a pass. */
export interface PassResult {
  /** Records and windows that differed and were written. */
  readonly differences: number;
  /** The addresses of those that differed, except in statistics: `<workspace> <kind> <id>`. Empty unless requested. */
  readonly changed: ReadonlySet<string>;
  /** Of everything read on either side, before anything was written. */
  readonly digests: { readonly source: SetDigest; readonly target: SetDigest };
  readonly counts: Counts;
}

/** What a pass needs besides its source. */
export interface PassOptions {
  /** Where a workspace is written to. */
  readonly targetOf: (workspaceId: string) => Target;
  /** Called after each part. */
  readonly onPart?: (part: Part) => void;
  /** Whether to return the addresses of differences. */
  readonly namesChanged?: boolean;
}

/**
 * Makes a target equal to its source: reads both, part by part, and writes the differences. The first pass finds everything
 * missing, a pass after a kill finds most of it, and the last one finds no difference, which is the proof. After the end of a
 * list on the target, the target is not read any further.
 */
export class Pass {
  readonly #options: PassOptions;
  readonly #digests = { source: new SetDigest(), target: new SetDigest() };
  readonly #counts: Record<string, number> = {};
  readonly #changed = new Set<string>();
  #differences = 0;
  #target: Target | null = null;
  #owned = new OwnedSubjects();
  #unowned: UnownedPass | null = null;
  /** Names of windows of the target; undefined until they are needed. Only this pass changes them. */
  #windowNames: WindowNames | null | undefined;
  /** The current list, how far it has been compared, and the highest id that the target has in it. */
  #list: { readonly name: string; after: string | null; readonly top: string | null } | null = null;

  constructor(options: PassOptions) {
    this.#options = options;
  }

  async run(parts: AsyncIterable<Part>): Promise<PassResult> {
    for await (const part of readAhead(parts)) {
      count(this.#counts, part);
      await this.#take(part);
      this.#options.onPart?.(part);
      await yieldToEventLoop();
    }
    return {
      differences: this.#differences,
      digests: this.#digests,
      counts: this.#counts,
      changed: this.#changed,
    };
  }

  async #take(part: Part): Promise<void> {
    switch (part.kind) {
      case "workspace": {
        const { workspaceId, record } = part;
        this.#target = this.#options.targetOf(workspaceId);
        [this.#owned, this.#unowned] = [new OwnedSubjects(), null];
        const present = await readWorkspaceRecord(this.#target.store, workspaceId);
        return this.#compare(record ? [record] : [], present ? [present] : []);
      }
      case "records":
        this.#owned.add(part.records.map(({ record }) => record));
        return this.#takeRecords(part.of, part.records, part.isLast);
      case "statistics":
        return this.#takeStatistics(part.sums, part.isLast);
      case "windows":
        return this.#takeWindows(part.windows);
      default:
        return part satisfies never;
    }
  }

  async #takeRecords(of: RecordList, records: readonly CopiedRecord[], isLast: boolean) {
    const { store, workspaceId } = this.#target as Target;
    if (this.#list?.name !== of.list) {
      const want = { ...of, after: null, limit: 1, descending: true };
      const { found } = await store.page(workspaceId, want);
      this.#list = { name: of.list, after: null, top: found[0]?.record.id ?? null };
    }
    const list = this.#list;
    const end = isLast ? null : (records.at(-1)?.record.id ?? null);
    const isBeyond = list.top === null || (list.after !== null && list.after >= list.top);
    const present = isBeyond ? [] : await this.#range(of, list.after, end);
    list.after = end ?? list.after;
    if (isLast) this.#list = null;
    await this.#compare(records, present);
    if (!isLast || of.last === undefined) return;
    const isRaised = await raiseLogEnd(this.#target as Target, of.last);
    this.#differences += Number(isRaised);
  }

  /** What the target has of a list after one id, up to another one, or to the end for null. */
  async #range(of: RecordList, after: string | null, end: string | null) {
    const { store, workspaceId, shared } = this.#target as Target;
    const loaded: LoadedRecord[] = [];
    for await (const { found } of pagesOf(store, workspaceId, of, after)) {
      loaded.push(...found.filter(({ record: { id } }) => end === null || id <= end));
      if (loaded.length === 0 || loaded.at(-1) !== found.at(-1)) break;
    }
    const copied = await readCopied(store, workspaceId, loaded);
    for (const { record, layout } of copied) shared.learn(record.id, layout.sharedCountersId);
    return copied;
  }

  async #compare(wanted: readonly CopiedRecord[], present: readonly CopiedRecord[]) {
    const target = this.#target as Target;
    const left = new Map(present.map((record) => [record.record.id, record]));
    const differences: Difference[] = [];
    for (const record of wanted) {
      const { id } = record.record;
      const known = left.get(id) ?? null;
      left.delete(id);
      target.shared.learnHolders(record);
      const text = textOf(record);
      const knownText = known && textOf(known);
      this.#digests.source.add(`${target.workspaceId} ${text}`);
      if (knownText !== null) this.#digests.target.add(`${target.workspaceId} ${knownText}`);
      if (text !== knownText) differences.push({ wanted: record, present: known });
    }
    for (const record of left.values()) {
      this.#digests.target.add(`${target.workspaceId} ${textOf(record)}`);
      differences.push({ wanted: null, present: record });
      if (record.record.kind === "api") await this.#deleteKeysOf(record.record.id);
    }
    this.#differences += differences.length;
    if (this.#options.namesChanged) for (const each of differences) this.#note(each);
    for (const some of piecesOf(differences, PART_SIZE)) await writeDifferences(target, some);
  }

  #note({ wanted, present }: Difference): void {
    const [one, other] = [wanted, present].map((record) => record && textWithoutStatistics(record));
    const { kind, id } = ((wanted ?? present) as CopiedRecord).record;
    if (one !== other) this.#changed.add(`${this.#target?.workspaceId} ${kind} ${id}`);
  }

  async #takeStatistics(sums: readonly UnownedSums[], isLast: boolean): Promise<void> {
    const target = this.#target as Target;
    this.#unowned ??= new UnownedPass(target, this.#owned);
    this.#differences += await this.#unowned.take(sums, isLast, (side, text) =>
      this.#digests[side].add(`${target.workspaceId} ${text}`),
    );
  }

  async #takeWindows(wanted: FoundWindows): Promise<void> {
    const target = this.#target as Target;
    this.#windowNames ??= await scanAllWindows(target.store);
    const present = await readOwnWindows(target.store, target.workspaceId, this.#windowNames);
    for (const window of wanted.values())
      this.#digests.source.add(windowText(target.workspaceId, window));
    for (const window of present.values())
      this.#digests.target.add(windowText(target.workspaceId, window));
    this.#differences += await writeOwnWindows(target, wanted, present);
  }

  /** Must run before the API is deleted, because nothing leads to its keys afterwards. */
  async #deleteKeysOf(apiId: string): Promise<void> {
    const target = this.#target as Target;
    const of: RecordList = { kind: "key", list: keysOfApi(apiId) };
    for await (const { found } of pagesOf(target.store, target.workspaceId, of)) {
      const copied = await readCopied(target.store, target.workspaceId, found);
      await writeDifferences(
        target,
        copied.map((present) => ({ wanted: null, present })),
      );
    }
  }
}
