import type { KeyStore } from "@latchkey/core";
import { copyLive } from "./live/copy-live.js";
import { assertStore, checkOptions } from "./options.js";
import { assertReadable, storeParts, workspacesOf } from "./passes/source.js";
import { createStoreProgress, type ProgressListener } from "./progress.js";
import type { TransferReport } from "./report.js";
import { withRetriedCalls } from "./retried-calls.js";
import { sourceIdOf } from "./source-id.js";
import { TransferTarget } from "./target.js";

/** Options of {@link copy}. */
export interface CopyOptions {
  /**
   * The source keeps serving, and its keys move: at the end, the source is closed, and answers `STORE_UNAVAILABLE` with the reason
   * `moved` from then on. Without `live`, nothing may use the source during the copy.
   */
  readonly live?: boolean;
  /**
   * First deletes what an unfinished copy or restore left on the target. Without it, you can continue such a target only from the
   * source that it was started with.
   */
  readonly startOver?: boolean;
  readonly onProgress?: ProgressListener;
}

/**
 * Copies everything from any store to any other: records, counters with their windows, statistics and the audit log. The target must be
 * empty, or have an unfinished copy of the same source, which is then continued. Before it resolves, it reads both sides again and
 * compares them.
 *
 * It writes one small record to the source, to recognise it in later calls. If a store does not answer, such as during a failover, calls that
 * were not applied are repeated for half a minute.
 *
 * Both stores stay open. Do not use them through `createLatchkey` in this process during the copy, unless it is a live copy.
 *
 * @throws TypeError naming a wrong option.
 * @throws LatchkeyError `PRECONDITION_FAILED` if the target is in use, or was started from another source; `STORE_CORRUPT` for a
 * damaged record; `CONFLICT` if the source keeps changing; `STORE_UNAVAILABLE` with the reason `incomplete` or `moved` if the source
 * cannot be used. Call it again to continue.
 */
export async function copy(
  from: KeyStore,
  to: KeyStore,
  options: CopyOptions = {},
): Promise<TransferReport> {
  checkOptions("copy", options, { live: "boolean", startOver: "boolean", onProgress: "function" });
  assertStore("from", from);
  assertStore("to", to);
  return copyBetween(withRetriedCalls(from), withRetriedCalls(to), options);
}

async function copyBetween(
  from: KeyStore,
  to: KeyStore,
  { live = false, startOver, onProgress }: CopyOptions,
): Promise<TransferReport> {
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
