import type { KeyStore } from "@latchkey/core";
import { copyLive } from "./live/copy-live.js";
import { assertReadable, storeParts, workspacesOf } from "./passes/source.js";
import { createProgress, type ProgressListener } from "./progress.js";
import type { TransferReport } from "./report.js";
import { TransferTarget } from "./target.js";

/** Options of {@link copy}. */
export interface CopyOptions {
  /**
   * The source goes on serving. Its keys move: in the end the source is fenced, and answers `STORE_UNAVAILABLE` with the reason
   * `moved` from then on. Without it nothing may use the source meanwhile.
   */
  readonly live?: boolean;
  readonly onProgress?: ProgressListener;
}

/**
 * Copies everything from one store to another, whichever they are: records, claims, lists, counters with their windows, statistics
 * and the audit log. The target is empty, or one that was left half way: then what is there is compared and completed. It answers
 * nothing before all was read back from both sides and found to be the same.
 *
 * The stores stay open. Neither is used through `createLatchkey` by this process meanwhile, unless it is a live copy.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` where the target is in use, `STORE_CORRUPT` for a record that is damaged, `CONFLICT`
 * where the source changes all the time, `STORE_UNAVAILABLE` with the reason `incomplete` or `moved` where the source is not to be
 * used. Call it again to go on.
 */
export async function copy(
  from: KeyStore,
  to: KeyStore,
  options: CopyOptions = {},
): Promise<TransferReport> {
  if (options.live === true) return copyLive(from, to, options.onProgress);
  const { onProgress } = options;
  await assertReadable(from);
  const target = await TransferTarget.take(to);
  return target.fill(
    {
      workspaces: () => workspacesOf(from),
      parts: (workspaceIds) => storeParts(from, workspaceIds),
    },
    (phase) => createProgress(phase, onProgress),
    "the source kept changing while it was copied: stop what uses it, or copy it live",
  );
}
