import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { storeParts, workspacesOf } from "../passes/source.js";
import { createStoreProgress, type ProgressListener } from "../progress.js";
import type { TransferReport } from "../report.js";
import { readState } from "../state.js";
import { type TargetOrigin, TransferTarget } from "../target.js";
import { FollowedSource } from "./followed-source.js";
import { followTrail, type Trail } from "./trail.js";

/** A difference that is small enough to be carried over while nobody serves. */
const SMALL = 200;
/** What a round leaves of the one before at most, where there is a point in another. */
const SHRINKING = 0.7;
/** Rounds of following, and passes that prove. */
const [MOST_ROUNDS, MOST_PASSES] = [20, 3];

/**
 * Copies a store that goes on serving, then moves its keys.
 *
 * 1. Every workspace of the target is incomplete, every one of the source is followed: each step that changes something leaves its
 *    address in the trail, in the same step.
 * 2. Everything is compared and written; then, trail by trail, what changed meanwhile, until that is little.
 * 3. Everything is compared once more. What differs must be in the trail, or something is wrong.
 * 4. Leases end, and what was taken ahead comes back. Then the fence: every workspace of the source has moved. From then on the
 *    source admits nothing.
 * 5. The last trail, compared until nothing differs. 6. The target is opened.
 *
 * The order of 4 and 6 is the whole safety: the target is opened by this process alone, after the fence, and nothing lifts the fence
 * but `takeBack`, which first takes the target away from whoever might still open it.
 *
 * Called again after its end it writes nothing, and says that the move is complete.
 */
export async function copyLive(
  from: KeyStore,
  to: KeyStore,
  origin: TargetOrigin,
  onProgress?: ProgressListener,
): Promise<TransferReport> {
  const moved = await completedMove(from, to);
  if (moved !== null) return { workspaces: moved, counts: {}, digest: null, wasComplete: true };
  const target = await TransferTarget.take(to, origin);
  const source = await FollowedSource.follow(from, target.transfer);
  if (source.isFenced) return finish(source, target, {}, onProgress);
  let isProven = false;
  let counts: TransferReport["counts"] = {};
  for (let pass = 0; pass <= MOST_PASSES && !isProven; pass += 1) {
    const workspaces = await target.prepare(await source.followNew());
    const phase = pass === 0 ? "copying" : "verifying";
    const onPart = await createStoreProgress(phase, onProgress, from, workspaces);
    const result = await target.pass(storeParts(from, workspaces), onPart, pass > 0);
    counts = result.counts;
    const explained = await catchUp(source, target);
    isProven = pass > 0 && [...result.changed].every((address) => explained.has(address));
  }
  if (!isProven)
    throw new LatchkeyError(
      "CONFLICT",
      "the two sides differ where nothing changed: does a process use the source without createLatchkey?",
    );
  return finish(source, target, counts, onProgress);
}

/**
 * The workspaces of a live copy that came to its end in an earlier call, null of any other: all of the source have moved, and the
 * target has opened each of them in the same transfer. It may have made others since.
 */
async function completedMove(from: KeyStore, to: KeyStore): Promise<readonly string[] | null> {
  const workspaces = await workspacesOf(from);
  for (const id of workspaces) {
    const { state } = await readState(from, id);
    if (state?.state !== "moved") return null;
    const { state: arrived } = await readState(to, id);
    if (arrived?.state !== "open" || arrived.transfer !== state.transfer) return null;
  }
  return workspaces.length > 0 ? workspaces : null;
}

/** Follows until little is left, or it gets no less. @returns Addresses that changed since the call before, at least. */
async function catchUp(
  source: FollowedSource,
  target: TransferTarget,
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  let before = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    let count = 0;
    for (const workspaceId of source.workspaces) {
      const trail = await source.nextTrail(workspaceId);
      for (const { kind, id } of trail.addresses) changed.add(`${workspaceId} ${kind} ${id}`);
      count += sizeOf(trail);
      await followTrail(source.store, target.at(workspaceId), trail);
      await source.clear(workspaceId);
    }
    if (count <= SMALL || count > before * SHRINKING) break;
    before = count;
  }
  return changed;
}

/** How much there is to compare. */
function sizeOf({ addresses, changedWindows }: Trail): number {
  return addresses.length + changedWindows.length;
}

/** From the fence on. A process that died behind the fence compares everything again. */
async function finish(
  source: FollowedSource,
  target: TransferTarget,
  lastCounts: TransferReport["counts"],
  onProgress: ProgressListener | undefined,
): Promise<TransferReport> {
  const from = source.store;
  const wasFenced = source.isFenced;
  // Those that were made a moment ago, too.
  const known = new Set(source.workspaces);
  const workspaces = await target.prepare(await source.followNew());
  // To look for them may have taken a while.
  if (!wasFenced) {
    await source.endLeases();
    await catchUp(source, target);
  }
  const startedAt = performance.now();
  await source.fence();
  const whole = workspaces.filter((id) => wasFenced || !known.has(id));
  const onPart = await createStoreProgress("switching", onProgress, from, whole);
  const { counts } = await target.pass(storeParts(from, whole), onPart);
  let records = 0;
  for (const workspaceId of workspaces) {
    const trail = await source.lastTrail(workspaceId);
    records += sizeOf(trail);
    await followTrail(from, target.at(workspaceId), trail);
    const isSame = (await followTrail(from, target.at(workspaceId), trail)) === 0;
    if (!isSame)
      throw new LatchkeyError(
        "INTERNAL_SERVER_ERROR",
        "the last changes did not arrive: nothing was opened, call it again",
      );
  }
  await target.open();
  const ms = Math.round(performance.now() - startedAt);
  for (const workspaceId of workspaces) await source.clear(workspaceId);
  const all = Object.keys(counts).length > 0 ? counts : lastCounts;
  return { workspaces: source.workspaces, counts: all, digest: null, fence: { ms, records } };
}
