import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { withEach } from "../at-once.js";
import { storeParts, workspacesOf } from "../passes/source.js";
import { createStoreProgress, PhaseProgress, type ProgressListener } from "../progress.js";
import { raiseLogEnd, readLogEnd } from "../records/log-end.js";
import type { TransferReport } from "../report.js";
import { readState } from "../state.js";
import { type TargetOrigin, TransferTarget } from "../target.js";
import { FollowedSource } from "./followed-source.js";
import { FollowedTrails, followTrail, sizeOf, withSharers } from "./trail.js";

/** A difference small enough to be copied while nobody serves. */
const SMALL = 200;
/** The largest share of the last round's changes that a round may leave, if another one is worth it. */
const SHRINKING = 0.7;
/** Maximum rounds of following, and maximum passes of comparing. */
const [MOST_ROUNDS, MOST_PASSES] = [20, 3];

/**
 * Copies a store that keeps serving, then moves its keys.
 *
 * 1. Every workspace of the target is marked as incomplete, and every one of the source is followed: each atomic step that changes
 *    something also writes the address of the change to the trail.
 * 2. Everything is compared and written; then what changed meanwhile, trail by trail, until little is left.
 * 3. Everything is compared once more. Each difference must be in the trail; otherwise something is wrong.
 * 4. Leases end, and their unused units are returned. Then the fence: every workspace of the source is marked as moved. From then on,
 *    the source admits nothing.
 * 5. Its last trail is followed, until nothing differs.
 * 6. The target is opened, if the fence is still there.
 *
 * A failover may lose what was written last to either side, and no call needs to fail. So everything that is written to the target is read
 * there again after its state was written once more, and it is opened only in that state.
 *
 * Safety rests on the order of steps 4 and 6: only this process opens the target, and only after the fence. Nothing lifts the fence but
 * `takeBack`, which first makes sure that nobody else can still open the target.
 *
 * If it is called again after its end, it writes nothing and reports the move as complete.
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
  let followed = new FollowedTrails();
  if (source.isFenced) return finish(source, target, {}, followed, onProgress);
  let isProven = false;
  let counts: TransferReport["counts"] = {};
  for (let pass = 0; pass <= MOST_PASSES && !isProven; pass += 1) {
    if (pass > 0) await target.renew();
    followed = new FollowedTrails();
    const workspaces = await target.prepare(await source.followNew());
    const phase = pass === 0 ? "copying" : "verifying";
    const onPart = await createStoreProgress(phase, onProgress, from, workspaces);
    const result = await target.pass(storeParts(from, workspaces), onPart, pass > 0);
    counts = result.counts;
    await catchUp(source, target, followed, onProgress);
    isProven = pass > 0 && [...result.changed].every((address) => followed.hasAddress(address));
  }
  if (!isProven)
    throw new LatchkeyError(
      "CONFLICT",
      "the two sides differ where nothing changed: does a process use the source without createLatchkey?",
    );
  return finish(source, target, counts, followed, onProgress);
}

/**
 * The workspaces of a live copy that an earlier call finished, otherwise null: all of the source have moved, and the target has
 * opened each of them in the same transfer. The target may have created others since.
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

/** Follows until little is left, or the rest stops shrinking. */
async function catchUp(
  source: FollowedSource,
  target: TransferTarget,
  followed: FollowedTrails,
  onProgress: ProgressListener | undefined,
): Promise<void> {
  const progress = new PhaseProgress("following", onProgress);
  let before = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    let count = 0;
    await withEach(source.workspaces, async (workspaceId) => {
      const to = target.at(workspaceId);
      const trail = withSharers(await source.nextTrail(workspaceId), to.shared);
      followed.add(workspaceId, trail);
      count += sizeOf(trail);
      progress.expect(sizeOf(trail));
      await followTrail(source.store, to, trail, (done) => progress.add(workspaceId, done));
      await source.clear(workspaceId);
    });
    if (count <= SMALL || count > before * SHRINKING) break;
    before = count;
  }
}

/**
 * Reads again on the target what was followed, and follows meanwhile, until little is left to be read again behind the fence.
 *
 * @returns What is left.
 */
async function readAgain(
  source: FollowedSource,
  target: TransferTarget,
  followed: FollowedTrails,
  onProgress: ProgressListener | undefined,
): Promise<FollowedTrails> {
  let left = followed;
  let before = Number.POSITIVE_INFINITY;
  while (left.size > SMALL && left.size <= before * SHRINKING) {
    before = left.size;
    await target.renew();
    await withEach(source.workspaces, (id) =>
      followTrail(source.store, target.at(id), left.in(id)),
    );
    left = new FollowedTrails();
    await catchUp(source, target, left, onProgress);
  }
  return left;
}

/** Sets the fence and completes the copy. If a process died after the fence, the next one compares everything again. */
async function finish(
  source: FollowedSource,
  target: TransferTarget,
  lastCounts: TransferReport["counts"],
  followed: FollowedTrails,
  onProgress: ProgressListener | undefined,
): Promise<TransferReport> {
  const from = source.store;
  const wasFenced = source.isFenced;
  const known = new Set(source.workspaces);
  // Including those created a moment ago.
  const workspaces = await target.prepare(await source.followNew());
  let left = followed;
  // Preparing them may have taken a while.
  if (!wasFenced) {
    await source.endLeases();
    await catchUp(source, target, followed, onProgress);
    left = await readAgain(source, target, followed, onProgress);
  }
  // Behind the fence of a copy whose target was given to another one, nobody would serve.
  await target.assertOwn();
  const startedAt = performance.now();
  await source.fence();
  const whole = workspaces.filter((id) => wasFenced || !known.has(id));
  const onPart = await createStoreProgress("switching", onProgress, from, whole);
  const { counts, changed } = await target.pass(storeParts(from, whole), onPart, true);
  left.addChanged(changed);
  let records = 0;
  const logEnds = new Map<string, number>();
  await withEach(workspaces, async (workspaceId) => {
    const at = target.at(workspaceId);
    const trail = withSharers(await source.lastTrail(workspaceId), at.shared);
    records += sizeOf(trail);
    await followTrail(from, at, trail);
    left.add(workspaceId, trail);
    const logEnd = await readLogEnd(from, workspaceId);
    logEnds.set(workspaceId, logEnd);
    await raiseLogEnd(at, logEnd);
  });
  await target.renew();
  await withEach(workspaces, async (workspaceId) => {
    const at = target.at(workspaceId);
    const differences = await followTrail(from, at, left.in(workspaceId));
    const isRaised = await raiseLogEnd(at, logEnds.get(workspaceId) ?? 0);
    if (differences > 0 || isRaised)
      throw new LatchkeyError(
        "INTERNAL_SERVER_ERROR",
        "the last changes did not arrive: nothing was opened, run it again",
      );
  });
  await source.assertFenced();
  await target.open();
  const ms = Math.round(performance.now() - startedAt);
  await withEach(workspaces, (workspaceId) => source.clear(workspaceId));
  const all = Object.keys(counts).length > 0 ? counts : lastCounts;
  return { workspaces: source.workspaces, counts: all, digest: null, fence: { ms, records } };
}
