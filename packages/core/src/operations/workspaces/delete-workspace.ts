import { z } from "zod";
import { buildAuditEntry } from "../../audit/entry.js";
import { toAuditEvent } from "../../audit/event.js";
import { LatchkeyError } from "../../errors.js";
import { yieldToEventLoop } from "../../lib/event-loop.js";
import { DIRECTORY_ID, rootKeyType } from "../../records/root-key.js";
import { leaseTimesOf, STATE_ADDRESS, stateOf, stateRecord } from "../../store/workspace-state.js";
import { afterWriting, type OperationContext, transact } from "../context.js";
import { orRequired } from "../input.js";
import { operation } from "../operation.js";
import { decodeAll, listPages } from "../read.js";
import { workspaceIdInput, writeWorkspace } from "./write-workspace.js";

/** Root keys whose pointers go in one step. */
const POINTERS_AT_ONCE = 200;

const NOT_CONFIRMED = "must be the workspaceId once more";

const deleteWorkspaceInput = z
  .strictObject({
    workspaceId: workspaceIdInput,
    confirm: z.string({ error: orRequired(NOT_CONFIRMED) }),
  })
  .refine(({ workspaceId, confirm }) => confirm === workspaceId, {
    path: ["confirm"],
    error: NOT_CONFIRMED,
  });

/**
 * Closes the workspace in one step, by its state, which is deleted last. So a call that fails on the way leaves it closed, and the next one
 * continues.
 *
 * @see packages/core/decisions/0048-a-workspace-is-forgotten-by-its-store.md
 */
export const deleteWorkspace = operation(deleteWorkspaceInput, async (context, { workspaceId }) => {
  const { store, emit, timer } = context;
  await context.call?.isFirst();
  const its: OperationContext = { ...context, workspaceId, call: null };
  const startedAt = timer();
  await close(its);
  // Only while its state exists: if nothing is left, there is nothing to wait for.
  await context.awaitLeases(workspaceId);
  await afterWriting(async () => {
    await deletePointers(its);
    for (let after: string | null = null; ; ) {
      after = await store.forget(workspaceId, after);
      if (after === null) return;
      await yieldToEventLoop();
    }
  });
  // What is remembered of the call would bring it back.
  if (workspaceId === context.workspaceId) context.call?.forgo();
  const entry = buildAuditEntry(its, { type: "workspace.deleted", resourceId: workspaceId });
  emit?.({ ...toAuditEvent(entry), durationMs: timer() - startedAt });
  return {};
});

async function close(its: OperationContext): Promise<void> {
  await transact(its, async ({ transaction }) => {
    const stored = await transaction.readOne(STATE_ADDRESS);
    const state = stateOf(stored);
    if (state?.state === "deleting") return;
    if (state?.state === "followed")
      throw new LatchkeyError(
        "PRECONDITION_FAILED",
        "the store is being copied: wait for the end of that, then delete the workspace",
      );
    if (stored === null) transaction.expect({ ...STATE_ADDRESS, version: null });
    await writeWorkspace(transaction, { enabled: false });
    transaction.putAnew(
      stateRecord(
        { state: "deleting", transfer: "" },
        stored?.record.version ?? 0,
        leaseTimesOf(stored),
      ),
    );
    transaction.renewRevision();
  });
}

/** What leads from the hashes of its root keys to them is kept elsewhere. */
async function deletePointers(its: OperationContext): Promise<void> {
  const want = {
    kind: "rootKey",
    list: "rootKey",
    of: undefined,
    limit: POINTERS_AT_ONCE,
  } as const;
  for await (const page of listPages(its, want)) {
    const hashes = decodeAll(rootKeyType, page, its.workspaceId).map(({ hash }) => hash);
    if (hashes.length === 0) continue;
    await its.transact(DIRECTORY_ID, async (transaction) => {
      for (const id of hashes) transaction.deleteAddress({ kind: "rootKeyPointer", id }, [], []);
    });
  }
}
