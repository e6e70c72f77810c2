import type { KeyStore } from "@latchkey/core";
import { countRecords, type Part } from "./passes/source.js";

/** Progress of a transfer. */
export interface TransferProgress {
  /**
   * `copying` or `verifying`: everything is read on both sides. Only in a live copy, `following`: what changed meanwhile is copied, and
   * `switching`: the source is closed, and the last changes are copied.
   */
  readonly phase: "copying" | "verifying" | "following" | "switching";
  readonly workspaceId: string;
  /** Records of this phase that are done. While following, windows of limits are counted, too. */
  readonly done: number;
  /** Records in all lists when the phase began, or `done` if that is more. While following, what is known to have changed so far. */
  readonly total: number;
  /** Records a second in this phase, rounded. */
  readonly perSecond: number;
  /** Of this phase, at this rate, rounded; null if the rate is not known yet. */
  readonly secondsLeft: number | null;
}

/** Called every few hundred records. */
export type ProgressListener = (progress: TransferProgress) => void;

/** The progress of a phase that reads workspaces of a store. Their records are counted only if somebody listens. */
export async function createStoreProgress(
  phase: TransferProgress["phase"],
  onProgress: ProgressListener | undefined,
  store: KeyStore,
  workspaceIds: readonly string[],
): Promise<(part: Part) => void> {
  const expected = onProgress === undefined ? 0 : await countRecords(store, workspaceIds);
  return createProgress(phase, onProgress, expected);
}

/** The progress of a phase whose parts are read one after another. `expected`: how many records there are. */
export function createProgress(
  phase: TransferProgress["phase"],
  onProgress: ProgressListener | undefined,
  expected: number,
): (part: Part) => void {
  const progress = new PhaseProgress(phase, onProgress);
  progress.expect(expected);
  let workspaceId = "";
  return (part) => {
    if (part.kind === "workspace") workspaceId = part.workspaceId;
    if (part.kind === "records") progress.add(workspaceId, part.records.length);
  };
}

/** Counts the records of one phase and says how fast it goes. */
export class PhaseProgress {
  readonly #phase: TransferProgress["phase"];
  readonly #onProgress: ProgressListener | undefined;
  readonly #startedAt = performance.now();
  #expected = 0;
  #done = 0;

  constructor(phase: TransferProgress["phase"], onProgress: ProgressListener | undefined) {
    this.#phase = phase;
    this.#onProgress = onProgress;
  }

  /** Adds to the records that there are. */
  expect(records: number): void {
    this.#expected += records;
  }

  /** Adds to the records that are done, and tells the listener. */
  add(workspaceId: string, records: number): void {
    this.#done += records;
    const [phase, done] = [this.#phase, this.#done];
    const total = Math.max(done, this.#expected);
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const perSecond = seconds > 0 ? Math.round(done / seconds) : 0;
    const secondsLeft = perSecond > 0 ? Math.ceil((total - done) / perSecond) : null;
    this.#onProgress?.({ phase, workspaceId, done, total, perSecond, secondsLeft });
  }
}
