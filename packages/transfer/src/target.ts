import { randomUUID } from "node:crypto";
import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { Pass, type PassResult } from "./passes/reconcile.js";
import { type Part, workspacesOf } from "./passes/source.js";
import type { TransferProgress } from "./progress.js";
import { SharedCounters } from "./records/shared-counters.js";
import type { Target } from "./records/write.js";
import { reportOf, type TransferReport } from "./report.js";
import { expectState, type FoundState, readState, replaceState } from "./state.js";

/** Passes after which a source or a target that never stays the same is given up. */
const MOST_PASSES = 5;

/**
 * The store that is written to. Each of its workspaces is marked as incomplete before anything else is written to it, and answers
 * nothing until it is opened, which is one atomic step each.
 */
export class TransferTarget {
  readonly #states = new Map<string, FoundState>();
  /** Workspaces that were opened before this process came: they are in use. */
  readonly #opened = new Set<string>();
  readonly #shared = new Map<string, SharedCounters>();

  private constructor(
    readonly store: KeyStore,
    /** What this transfer is called on both sides. */
    readonly transfer: string,
  ) {}

  /**
   * Takes a store over: an empty one, or one whose transfer has not come to its end. Whoever was at it finds that out with the next
   * change.
   *
   * @throws LatchkeyError `PRECONDITION_FAILED` where the store is in use.
   */
  static async take(store: KeyStore): Promise<TransferTarget> {
    const found: [string, FoundState][] = [];
    for (const id of await workspacesOf(store)) found.push([id, await readState(store, id)]);
    const half = found.find(([, { state }]) => state?.state === "incomplete");
    const transfer = half?.[1].state?.transfer ?? null;
    const isOwn = ({ state }: FoundState) =>
      state?.transfer === transfer && (state?.state === "incomplete" || state?.state === "open");
    if (!found.every(([, state]) => isOwn(state)))
      throw new LatchkeyError(
        "PRECONDITION_FAILED",
        "the target is not empty: keys are copied to a store that has none",
      );
    const target = new TransferTarget(store, transfer ?? randomUUID());
    for (const [id, state] of found)
      if (state.state?.state === "open") target.#opened.add(id);
      else await target.#mark(id, state);
    return target;
  }

  /** Marks workspaces as incomplete that are not yet. @returns Those of them that are not open. */
  async prepare(workspaceIds: readonly string[]): Promise<readonly string[]> {
    const wanted = workspaceIds.filter((id) => !this.#opened.has(id));
    for (const id of wanted)
      if (!this.#states.has(id)) await this.#mark(id, await readState(this.store, id));
    return wanted;
  }

  /** Where a workspace is written to that was prepared. */
  at(workspaceId: string): Target {
    const state = this.#states.get(workspaceId);
    if (state === undefined) throw new TypeError("a workspace is prepared before it is written to");
    const shared = this.#shared.get(workspaceId) ?? new SharedCounters();
    this.#shared.set(workspaceId, shared);
    return { store: this.store, workspaceId, expects: [expectState(state)], shared };
  }

  /** Compares and writes parts of workspaces that were prepared. @param namesChanged - Whether to name what differed. */
  pass(
    parts: AsyncIterable<Part>,
    onPart: (part: Part) => void,
    namesChanged = false,
  ): Promise<PassResult> {
    return new Pass({ targetOf: this.at.bind(this), onPart, namesChanged }).run(parts);
  }

  /**
   * Makes the store what its source is, and opens it: pass after pass, until one finds no difference.
   *
   * @param source - Its workspaces, and the parts of some of them.
   * @throws LatchkeyError `CONFLICT` with the complaint, where one of the two never stays as it is.
   */
  async fill(
    source: {
      readonly workspaces: () => Promise<readonly string[]>;
      readonly parts: (workspaceIds: readonly string[]) => AsyncIterable<Part>;
    },
    progressOf: (phase: TransferProgress["phase"]) => (part: Part) => void,
    complaint: string,
  ): Promise<TransferReport> {
    for (let pass = 1; pass <= MOST_PASSES; pass += 1) {
      const workspaces = await this.prepare(await source.workspaces());
      const onPart = progressOf(pass === 1 ? "copying" : "verifying");
      const result = await this.pass(source.parts(workspaces), onPart);
      if (result.differences > 0) continue;
      const report = reportOf(workspaces, result);
      await this.open();
      return report;
    }
    throw new LatchkeyError("CONFLICT", complaint);
  }

  /** Opens the workspaces, one after the other: from then on they are used. */
  async open(): Promise<void> {
    const state = { state: "open", transfer: this.transfer } as const;
    for (const [id, before] of this.#states) await replaceState(this.store, id, before, state);
    this.#states.clear();
  }

  async #mark(id: string, before: FoundState): Promise<void> {
    const state = { state: "incomplete", transfer: this.transfer } as const;
    this.#states.set(id, await replaceState(this.store, id, before, state));
  }
}
