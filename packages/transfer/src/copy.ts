import type { KeyStore } from "@latchkey/core";
import { copyLive } from "./live/copy-live.js";
import { assertReadable, storeParts, workspacesOf } from "./passes/source.js";
import { createStoreProgress, type ProgressListener } from "./progress.js";
import type { TransferReport } from "./report.js";
import { sourceIdOf } from "./source-id.js";
import { TransferTarget } from "./target.js";

/** Options of {@link copy}. */
export interface CopyOptions {
  /**
   * The source goes on serving. Its keys move: in the end the source is fenced, and answers `STORE_UNAVAILABLE` with the reason
   * `moved` from then on. Without it nothing may use the source meanwhile.
   */
  readonly live?: boolean;
  /**
   * What another copy or restore left half done on the target is deleted first. Without it such a target is taken only from the
   * source that it was begun from.
   */
  readonly startOver?: boolean;
  readonly onProgress?: ProgressListener;
}

/**
 * Copies everything from one store to another, whichever they are: records, claims, lists, counters with their windows, statistics
 * and the audit log. The target is empty, or one that a copy of the same source was left half way in: then what is there is compared
 * and completed. It answers nothing before all was read back from both sides and found to be the same.
 *
 * One small record is written to the source, by which it is known again.
 *
 * The stores stay open. Neither is used through `createLatchkey` by this process meanwhile, unless it is a live copy.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` where the target is in use, or was begun from another source; `STORE_CORRUPT` for a
 * record that is damaged; `CONFLICT` where the source changes all the time; `STORE_UNAVAILABLE` with the reason `incomplete` or
 * `moved` where the source cannot be used. Call it again to go on.
 */
export async function copy(
  from: KeyStore,
  to: KeyStore,
  options: CopyOptions = {},
): Promise<TransferReport> {
  const { live = false, startOver, onProgress } = options;
  if (!live) await assertReadable(from);
  const origin = { source: await sourceIdOf(from), startOver };
  if (live) return copyLive(from, to, origin, onProgress);
  const target = await TransferTarget.take(to, origin);
  return target.fill(
    {
      workspaces: () => workspacesOf(from),
      parts: (workspaceIds) => storeParts(from, workspaceIds),
    },
    (phase, workspaceIds) => createStoreProgress(phase, onProgress, from, workspaceIds),
    "the source kept changing while it was copied: stop what uses it, or copy it live",
  );
}
