import { randomUUID } from "node:crypto";
import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { withEach } from "./at-once.js";
import { clear } from "./clear.js";
import { assertOwnTarget, notOwnTarget, ownTarget } from "./own-target.js";
import { Pass, type PassResult } from "./passes/reconcile.js";
import { type Part, workspacesOf } from "./passes/source.js";
import type { TransferProgress } from "./progress.js";
import { SharedCounters } from "./records/shared-counters.js";
import type { Target } from "./records/write.js";
import { reportOf, type TransferReport } from "./report.js";
import { expectState, type FoundState, readState, replaceState } from "./state.js";

/** Passes before giving up on a source or target that keeps changing. */
const MOST_PASSES = 5;

const BEGUN_FROM_ANOTHER =
  "the target holds a part of another source, left by a copy or a restore that did not finish: run that one again, " +
  "or delete that part (startOver, --start-over)";

/** The source of a target. */
export interface TargetOrigin {
  /** Identifies the source: the same store, or the same file, always has the same name. */
  readonly source: string;
  /** Whether to delete first what an unfinished transfer left, from whatever source. */
  readonly startOver?: boolean | undefined;
}

/**
 * The store that is written to. Each workspace is marked as incomplete before anything else is written to it, and cannot be used
 * until it is opened, in one atomic step.
 */
export class TransferTarget {
  readonly #states = new Map<string, FoundState>();
  /** Workspaces that were already open: they are in use. */
  readonly #opened = new Set<string>();
  /** Workspaces that this process has compared completely. */
  readonly #filled = new Set<string>();
  readonly #shared = new Map<string, SharedCounters>();

  private constructor(
    readonly store: KeyStore,
    /** The name of this transfer on both sides. */
    readonly transfer: string,
    readonly source: string,
  ) {}

  /**
   * Takes over a store: an empty one, or one with an unfinished transfer from the same source. Another process that is still
   * writing fails at its next change.
   *
   * @throws LatchkeyError `PRECONDITION_FAILED` if the store is in use, or was started from another source.
   */
  static async take(
    store: KeyStore,
    { source, startOver = false }: TargetOrigin,
  ): Promise<TransferTarget> {
    const [half, opened] = [new Map<string, FoundState>(), new Map<string, FoundState>()];
    const ids = await workspacesOf(store);
    for (const [at, found] of (await withEach(ids, (id) => readState(store, id))).entries())
      (found.state?.state === "incomplete" ? half : opened).set(ids[at] as string, found);
    const begun = [...half.values()][0]?.state ?? null;
    const isArrived = ({ state }: FoundState) =>
      state?.state === "open" && state.transfer === begun?.transfer;
    const cameFrom = ({ state }: FoundState) => state?.state === "open" && state.source === source;
    if (half.size === 0 && [...opened.values()].some(cameFrom))
      throw refusal(
        "the keys of this source have already arrived on the target, which may be serving: it is not written to again",
      );
    if (![...opened.values()].every(isArrived))
      throw refusal("the target is not empty: keys are copied only to a store that has none");
    const isOwn = ({ state }: FoundState) =>
      state?.state === "incomplete" &&
      state.source === source &&
      state.transfer === begun?.transfer;
    const isSame = [...half.values()].every(isOwn);
    if (startOver && opened.size > 0)
      throw refusal("the target is already in use: what arrived there is not deleted");
    if (!isSame && !startOver) throw refusal(BEGUN_FROM_ANOTHER);
    const transfer = (isSame ? begun?.transfer : undefined) ?? randomUUID();
    const target = new TransferTarget(store, transfer, source);
    for (const id of opened.keys()) target.#opened.add(id);
    const marked = startOver ? await clear(store, half) : half;
    await withEach(marked, ([id, state]) => target.#mark(id, state));
    return target;
  }

  /**
   * Marks workspaces as incomplete if they are not yet.
   *
   * @returns All that are incomplete: those not open yet, and those on the target that are no longer in the source.
   * @throws LatchkeyError `PRECONDITION_FAILED` if another copy has marked or opened one of them.
   */
  async prepare(workspaceIds: readonly string[]): Promise<readonly string[]> {
    const added = workspaceIds.filter((id) => !this.#opened.has(id) && !this.#states.has(id));
    await withEach(added, async (id) => {
      const found = await readState(this.store, id);
      // Another copy has begun, or has even finished, since this one found the store empty.
      if (found.state !== null) throw notOwnTarget();
      await this.#mark(id, found);
    });
    return [...this.#states.keys()].sort();
  }

  /**
   * Writes the states of prepared workspaces again. What was written before, and is read after this, is there when {@link open} succeeds:
   * a failover that loses it also loses this state.
   *
   * @throws LatchkeyError `CONFLICT` if a state was changed, or lost in a failover.
   */
  async renew(): Promise<void> {
    await withEach([...this.#states], ([id, state]) => this.#mark(id, state));
  }

  /** @throws LatchkeyError `PRECONDITION_FAILED` if another copy has taken over a prepared workspace. */
  async assertOwn(): Promise<void> {
    await withEach(this.#states, ([id, state]) => assertOwnTarget(this.store, id, state));
  }

  /** Where to write to a prepared workspace. */
  at(workspaceId: string): Target {
    const state = this.#states.get(workspaceId);
    if (state === undefined) throw new TypeError("a workspace is prepared before it is written to");
    const shared = this.#shared.get(workspaceId) ?? new SharedCounters();
    this.#shared.set(workspaceId, shared);
    const store = ownTarget(this.store, workspaceId, state);
    return { store, workspaceId, expects: [expectState(state)], shared };
  }

  /**
   * Compares and writes parts of prepared workspaces.
   *
   * @param namesChanged - Whether to return the addresses of differences.
   */
  async pass(
    parts: AsyncIterable<Part>,
    onPart: (part: Part) => void,
    namesChanged = false,
  ): Promise<PassResult> {
    const seen: string[] = [];
    const watch = (part: Part) => {
      if (part.kind === "workspace") seen.push(part.workspaceId);
      onPart(part);
    };
    const pass = new Pass({ targetOf: this.at.bind(this), onPart: watch, namesChanged });
    const result = await pass.run(parts);
    for (const id of seen) this.#filled.add(id);
    return result;
  }

  /**
   * Makes the store equal to its source, and opens it: repeats passes until one finds no difference. A failover after that pass loses
   * nothing of what it found unless it also loses the state that was written before the pass: then the store is not opened.
   *
   * @param source - Its workspaces, and the parts of some of them.
   * @throws LatchkeyError `CONFLICT` with the complaint, if source or target keeps changing.
   */
  async fill(
    source: {
      readonly workspaces: () => Promise<readonly string[]>;
      readonly parts: (workspaceIds: readonly string[]) => AsyncIterable<Part>;
    },
    progressOf: (
      phase: TransferProgress["phase"],
      workspaceIds: readonly string[],
    ) => Promise<(part: Part) => void>,
    complaint: string,
  ): Promise<TransferReport> {
    for (let pass = 1; pass <= MOST_PASSES; pass += 1) {
      if (pass > 1) await this.renew();
      const workspaces = await this.prepare(await source.workspaces());
      const onPart = await progressOf(pass === 1 ? "copying" : "verifying", workspaces);
      const result = await this.pass(source.parts(workspaces), onPart);
      if (result.differences > 0) continue;
      const report = reportOf(workspaces, result);
      await this.open();
      return report;
    }
    throw new LatchkeyError("CONFLICT", complaint);
  }

  /**
   * Opens the workspaces, some at a time: from then on they can be used.
   *
   * @throws LatchkeyError `INTERNAL_SERVER_ERROR` if this process has not compared one of them: then it opens none.
   */
  async open(): Promise<void> {
    const unfilled = [...this.#states.keys()].filter((id) => !this.#filled.has(id));
    if (unfilled.length > 0)
      throw new LatchkeyError(
        "INTERNAL_SERVER_ERROR",
        `nothing was opened, since nothing is known about the workspaces ${unfilled.join(", ")}`,
      );
    const state = { state: "open", transfer: this.transfer, source: this.source } as const;
    await withEach(this.#states, ([id, before]) => replaceState(this.store, id, before, state));
    this.#states.clear();
  }

  async #mark(id: string, before: FoundState): Promise<void> {
    const { transfer, source } = this;
    const state = { state: "incomplete", transfer, source } as const;
    this.#states.set(id, await replaceState(this.store, id, before, state));
  }
}

function refusal(why: string): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", why);
}
