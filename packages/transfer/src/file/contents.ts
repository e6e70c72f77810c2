import { keysOfApi, type LatchkeyError, RECORD_LISTS } from "@latchkey/core";
import { PART_SIZE, type Part, type RecordList } from "../passes/source.js";
import type { CopiedRecord } from "../records/copied-record.js";
import { OwnedSubjects } from "../records/owned-subjects.js";
import { compareUnowned, type UnownedSums } from "../records/unowned-sums.js";
import type { FoundWindow } from "../records/windows.js";
import { type Line, unusable } from "./line.js";

/**
 * Assembles the lines of a backup into parts, and refuses what no backup contains: a list or record that occurs twice or in the
 * wrong place. So reading a forged file ends as soon as it repeats itself, however large it unpacks.
 */
export class Contents {
  readonly #workspaces = new Set<string>();
  #lists = new Map<string, RecordList["kind"]>();
  #number = 0;
  #begun: string | null = null;
  #of: RecordList | null = null;
  #lastId = "";
  #records: CopiedRecord[] = [];
  #windows: Map<string, FoundWindow> | null = null;
  #owned = new OwnedSubjects();
  #sums: UnownedSums[] = [];
  #lastSums: UnownedSums | null = null;

  /** @throws LatchkeyError `PRECONDITION_FAILED` for a line in the wrong place. */
  *take(line: Line): Generator<Part> {
    this.#number += 1;
    if (this.#begun !== null) {
      // The record of a workspace itself follows its line.
      const isOwn = line.type === "record" && line.record.record.kind === "workspace";
      const record = isOwn ? line.record : null;
      if (record !== null && record.record.id !== this.#begun)
        throw this.#refusal("a workspace has the record of another");
      yield { kind: "workspace", workspaceId: this.#begun, record };
      this.#begun = null;
      if (record !== null) return;
    }
    switch (line.type) {
      case "workspace":
        yield* this.#endOfWorkspace();
        if (this.#workspaces.has(line.workspaceId))
          throw this.#refusal("a workspace appears twice");
        this.#workspaces.add(line.workspaceId);
        this.#begun = line.workspaceId;
        this.#windows = new Map();
        this.#owned = new OwnedSubjects();
        this.#lastSums = null;
        this.#lists = new Map(RECORD_LISTS.map(({ list, kind }) => [list, kind]));
        return;
      case "list":
        yield* this.#endOfList();
        if (this.#lists.get(line.of.list) !== line.of.kind)
          throw this.#refusal("a list appears twice, or does not exist");
        this.#lists.delete(line.of.list);
        this.#of = line.of;
        return;
      case "record":
        yield* this.#takeRecord(line.record);
        return;
      case "counted":
        yield* this.#endOfList();
        yield* this.#takeSums(line.sums);
        return;
      case "window":
        if (this.#windows === null || this.#windows.has(line.window.window))
          throw this.#refusal("a window appears twice, or in no workspace");
        this.#windows.set(line.window.window, line.window);
        return;
      case "end":
        yield* this.#endOfWorkspace();
        return;
      case "header":
        return;
      default:
        line satisfies never;
    }
  }

  *#takeRecord(copied: CopiedRecord): Generator<Part> {
    const of = this.#of;
    const { id } = copied.record;
    const isOf = copied.layout.lists.some(
      ({ list, of: small }) => list === of?.list && small === undefined,
    );
    if (of === null || !isOf) throw this.#refusal("a record is in no list, or in the wrong one");
    if (id <= this.#lastId) throw this.#refusal("the records of a list are not in order");
    this.#lastId = id;
    if (of.kind === "api") this.#lists.set(keysOfApi(id), "key");
    this.#owned.add([copied.record]);
    this.#records.push(copied);
    if (this.#records.length < PART_SIZE) return;
    yield { kind: "records", of, records: this.#records, isLast: false };
    this.#records = [];
  }

  *#takeSums(sums: UnownedSums): Generator<Part> {
    if (this.#windows === null || this.#owned.has(sums.subject))
      throw this.#refusal("sums without a record are in no workspace, or have a record");
    if (this.#lastSums !== null && compareUnowned(this.#lastSums, sums) >= 0)
      throw this.#refusal("sums without a record are not in order");
    this.#lastSums = sums;
    this.#sums.push(sums);
    if (this.#sums.length < PART_SIZE) return;
    yield { kind: "statistics", sums: this.#sums, isLast: false };
    this.#sums = [];
  }

  *#endOfList(): Generator<Part> {
    if (this.#of !== null)
      yield { kind: "records", of: this.#of, records: this.#records, isLast: true };
    [this.#of, this.#records, this.#lastId] = [null, [], ""];
  }

  *#endOfWorkspace(): Generator<Part> {
    yield* this.#endOfList();
    if (this.#windows !== null) {
      yield { kind: "statistics", sums: this.#sums, isLast: true };
      yield { kind: "windows", windows: this.#windows };
    }
    [this.#windows, this.#sums] = [null, []];
  }

  #refusal(why: string): LatchkeyError {
    return unusable(`line ${this.#number}: ${why}`);
  }
}
