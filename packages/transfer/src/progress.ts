import type { KeyStore } from "@latchkey/core";
import { countRecords, type Part } from "./passes/source.js";

/** Progress of a transfer. */
export interface TransferProgress {
  readonly phase: "copying" | "verifying" | "following" | "switching";
  readonly workspaceId: string;
  /** Records of this phase that are done. */
  readonly done: number;
  /** Records in all lists when the phase began, or `done` if that is more. */
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

/** Counts the records of one phase and says how fast it goes. `expected`: how many there are. */
export function createProgress(
  phase: TransferProgress["phase"],
  onProgress: ProgressListener | undefined,
  expected: number,
): (part: Part) => void {
  const startedAt = performance.now();
  let workspaceId = "";
  let done = 0;
  return (part) => {
    if (part.kind === "workspace") workspaceId = part.workspaceId;
    if (part.kind !== "records") return;
    done += part.records.length;
    const total = Math.max(done, expected);
    const seconds = (performance.now() - startedAt) / 1_000;
    const perSecond = seconds > 0 ? Math.round(done / seconds) : 0;
    const secondsLeft = perSecond > 0 ? Math.ceil((total - done) / perSecond) : null;
    onProgress?.({ phase, workspaceId, done, total, perSecond, secondsLeft });
  };
}
