import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { copyLive } from "./live/copy-live.js";
import { Pass } from "./passes/reconcile.js";
import { storeParts, workspacesOf } from "./passes/source.js";
import { createProgress, type ProgressListener } from "./progress.js";
import { reportOf, type TransferReport } from "./report.js";
import { readState } from "./state.js";
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

/** Passes after which a source that never stays the same is given up. */
const MOST_PASSES = 5;

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
  const targetOf = target.at.bind(target);
  for (let pass = 1; pass <= MOST_PASSES; pass += 1) {
    const workspaces = await target.prepare(await workspacesOf(from));
    const phase = pass === 1 ? "copying" : "verifying";
    const onPart = createProgress(phase, onProgress, () => performance.now());
    const result = await new Pass({ targetOf, onPart }).run(storeParts(from, workspaces));
    if (result.differences > 0) continue;
    const report = reportOf(workspaces, result);
    await target.open();
    return report;
  }
  throw new LatchkeyError(
    "CONFLICT",
    "the source kept changing while it was copied: stop what uses it, or copy it live",
  );
}

/** @throws LatchkeyError `STORE_UNAVAILABLE` where a workspace is incomplete or has moved. */
export async function assertReadable(store: KeyStore): Promise<void> {
  for (const id of await workspacesOf(store)) {
    const { state } = await readState(store, id);
    if (state?.state !== "incomplete" && state?.state !== "moved") continue;
    throw new LatchkeyError("STORE_UNAVAILABLE", `the source is not to be used: ${state.state}`, {
      outcome: "not-applied",
      reason: state.state,
    });
  }
}
