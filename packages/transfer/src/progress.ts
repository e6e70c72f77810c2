import type { Part } from "./passes/source.js";

/** How far a transfer is. */
export interface TransferProgress {
  readonly phase: "copying" | "verifying" | "following" | "switching";
  readonly workspaceId: string;
  /** Records of this phase that are done. */
  readonly done: number;
  /** Records in the lists that were begun; more may come to light. */
  readonly total: number;
  /** Records a second in this phase, rounded. */
  readonly perSecond: number;
  /** By this rate, rounded; null where the rate is not known yet. */
  readonly secondsLeft: number | null;
}

/** Is called about every part of some hundred records. */
export type ProgressListener = (progress: TransferProgress) => void;

/** Counts the records of one phase and says how fast it goes. @param expected - How many there are, as far as is known. */
export function createProgress(
  phase: TransferProgress["phase"],
  onProgress: ProgressListener | undefined,
  expected = 0,
): (part: Part) => void {
  const startedAt = performance.now();
  const sizes = new Map<string, number>();
  let workspaceId = "";
  let done = 0;
  return (part) => {
    if (part.kind === "workspace") workspaceId = part.workspaceId;
    if (part.kind !== "records") return;
    done += part.records.length;
    sizes.set(`${workspaceId} ${part.of.list}`, part.size ?? 0);
    const known = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const total = Math.max(done, known, expected);
    const seconds = (performance.now() - startedAt) / 1_000;
    const perSecond = seconds > 0 ? Math.round(done / seconds) : 0;
    const secondsLeft = perSecond > 0 ? Math.ceil((total - done) / perSecond) : null;
    onProgress?.({ phase, workspaceId, done, total, perSecond, secondsLeft });
  };
}
