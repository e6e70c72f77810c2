import { z } from "zod";
import { buildAuditEntry, toAuditEvent } from "../audit/entry.js";
import { LatchkeyError } from "../errors.js";
import { parseInput } from "../lib/parse-input.js";
import { yieldToEventLoop } from "../lib/promises.js";
import { withoutNull } from "../lib/without-null.js";
import { DIRECTORY_ID, rootKeyType } from "../records/root-key.js";
import {
  unwrittenWorkspace,
  WORKSPACE_ID_PATTERN,
  type WorkspaceRecord,
  workspaceOf,
  workspaceType,
} from "../records/workspace.js";
import { afterWriting } from "../store/after-writing.js";
import type { LoadedRecord } from "../store/key-store.js";
import type { Transaction } from "../store/transaction.js";
import { leaseTimesOf, STATE_ADDRESS, stateOf, stateRecord } from "../store/workspace-state.js";
import { afterCursor, type OperationContext, randomRepeated, transact } from "./context.js";
import { decodeOrNull, readStored, withoutReadableRecord } from "./damaged.js";
import { flag, orRequired, type PageInput, pageInput, text, textLike } from "./input.js";
import { operation, type TableOf } from "./operation.js";
import { decodeAll, findRecord, listPages, type PageInfo, pageInfo } from "./read.js";

/** Input of setWorkspaceEnabled over HTTP. */
export type SetWorkspaceEnabledInput = {
  /** Whether the workspace is enabled. */
  readonly enabled: boolean;
};

/** A workspace that was created. */
export interface CreatedWorkspace {
  /** `ws_…` */
  readonly workspaceId: string;
}

/** A workspace. */
export interface WorkspaceView {
  /** Id of the workspace. */
  readonly id: string;
  /** For people. */
  readonly name?: string;
  /** Whether it is enabled. */
  readonly enabled: boolean;
}

/** A page of workspaces. */
export interface WorkspaceList extends PageInfo {
  /** In ascending order of id. */
  readonly workspaces: readonly WorkspaceView[];
  /** Exact number of workspaces of the store. */
  readonly total: number;
}

/** Operations on workspaces: the tenants of a store. */
export interface WorkspaceOperations {
  /**
   * Creates an enabled workspace with a new id. Work in it with `latchkey.workspace(workspaceId)`.
   *
   * You can also use any id without this call. It gives you an id that no other tenant has, and a name.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { workspaceId } = await latchkey.createWorkspace({ name: "Northwind" });
   */
  createWorkspace(input?: {
    /** For people: 1 to 256 characters. */
    readonly name?: string | undefined;
  }): Promise<CreatedWorkspace>;
  /**
   * Reads this workspace. One that was never written to exists too: enabled, without a name.
   *
   * @throws LatchkeyError `STORE_CORRUPT` if its record is damaged.
   * @example
   * const { id, enabled } = await latchkey.getWorkspace();
   */
  getWorkspace(): Promise<WorkspaceView>;
  /**
   * Whether this workspace is enabled, for callers without a root key.
   *
   * @throws LatchkeyError `STORE_CORRUPT` if its record is damaged.
   * @example
   * if (!(await latchkey.isWorkspaceEnabled())) console.log("switched off");
   */
  isWorkspaceEnabled(): Promise<boolean>;
  /**
   * Enables or disables this workspace, for every call that starts after this has resolved. While it is disabled, every verification
   * returns `FORBIDDEN`, and its root keys authorise nothing.
   *
   * @param enabled - Exactly true or false.
   * @throws LatchkeyError `BAD_REQUEST` for anything else.
   * @example
   * await latchkey.setWorkspaceEnabled(false);
   */
  setWorkspaceEnabled(enabled: boolean): Promise<void>;
  /**
   * Lists all workspaces of the store that were ever written to, a page at a time; `workspaces()` iterates over all of them. Each page
   * reads the ids of all.
   *
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { workspaces, total, cursor } = await latchkey.listWorkspaces({ limit: 20 });
   */
  listWorkspaces(input?: PageInput): Promise<WorkspaceList>;
  /**
   * Renames a workspace.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.updateWorkspace({ workspaceId, name: "Northwind Ltd" });
   */
  updateWorkspace(input: {
    /** Id of the workspace. Default: this one. */
    readonly workspaceId?: string | undefined;
    /** For people: 1 to 256 characters; null for none. If omitted, it stays. */
    readonly name?: string | null | undefined;
  }): Promise<Record<string, never>>;
  /**
   * Deletes a workspace with everything in it, including its statistics and its audit log. From the first step on, every verification in it
   * returns `FORBIDDEN`, its root keys authorise nothing, and nothing is written to it. It works in bounded steps that do not hold up other
   * workspaces. If it fails on the way, the workspace stays closed: call it again. For a workspace that is already gone it resolves too.
   *
   * It cannot be undone. The id can then be used for a new workspace.
   *
   * @throws LatchkeyError `BAD_REQUEST`, also if `confirm` is not the id; `PRECONDITION_FAILED` while the store is being copied.
   * @example
   * await latchkey.deleteWorkspace({ workspaceId, confirm: workspaceId });
   */
  deleteWorkspace(input: {
    /** Id of the workspace. */
    readonly workspaceId: string;
    /** The same id once more, as a safeguard. */
    readonly confirm: string;
  }): Promise<Record<string, never>>;
}

const workspaceIdInput = textLike(
  WORKSPACE_ID_PATTERN,
  "must be 1 to 64 characters of A-Z a-z 0-9 _ -",
);

/** Root keys whose pointers are deleted in one step. */
const POINTERS_AT_ONCE = 200;

const NOT_CONFIRMED = "must repeat the workspaceId";

const deleteWorkspaceInput = z
  .strictObject({
    workspaceId: workspaceIdInput,
    confirm: z.string({ error: orRequired(NOT_CONFIRMED) }),
  })
  .refine(({ workspaceId, confirm }) => confirm === workspaceId, {
    path: ["confirm"],
    error: NOT_CONFIRMED,
  });

const setWorkspaceEnabledInput = z.strictObject({ enabled: flag });

export const WORKSPACE_TABLE = {
  createWorkspace: operation(
    z.strictObject({ name: text(1, 256).optional() }),
    async (context, { name = null }) => {
      const newId = () => context.newId("ws");
      // A repeat uses the same id: a workspace that it finds was created by the first call.
      const workspaceId = (await context.call?.madeOnce(newId)) ?? newId();
      const address = { kind: "workspace", id: workspaceId } as const;
      // Writes in the new workspace, and to its log.
      await transact({ ...context, workspaceId, call: null }, async ({ transaction, audit }) => {
        if ((await readStored(transaction, address)) !== null) {
          if (context.call !== null) return;
          throw randomRepeated("no workspace was created");
        }
        transaction.insert(workspaceType, { id: workspaceId, name, enabled: true, version: 1 });
        transaction.renewRevision();
        const after = { name, enabled: true };
        audit({ type: "workspace.created", resourceId: workspaceId, after });
      });
      return { workspaceId };
    },
    { omitted: {} },
  ),

  getWorkspace: {
    input: null,
    run: viewWorkspace,
  },

  isWorkspaceEnabled: {
    input: null,
    run: async (context) => (await readWorkspace(context)).enabled,
  },

  setWorkspaceEnabled: {
    input: setWorkspaceEnabledInput,
    async run(context, enabled) {
      const parsed = parseInput(setWorkspaceEnabledInput, { enabled });
      await transact(context, async ({ transaction, audit }) => {
        const written = await writeWorkspace(transaction, parsed);
        if (written === null) return;
        const type = parsed.enabled ? "workspace.enabled" : "workspace.disabled";
        audit({ type, resourceId: context.workspaceId, unreadable: written.before === null });
      });
    },
  },

  listWorkspaces: operation(
    pageInput,
    async (context, { limit, cursor }) => {
      const scope = { list: "workspaces", ownerId: "" } as const;
      const after = afterCursor(scope, cursor, WORKSPACE_ID_PATTERN);
      const ids = await workspaceIds(context);
      const following = after === null ? ids : ids.filter((id) => id > after);
      const page = following.slice(0, limit);
      const views = await Promise.all(page.map((id) => viewOrNull(context, id)));
      const workspaces = views.filter((view) => view !== null);
      const damaged = views.length - workspaces.length;
      const last = following.length > page.length ? (page.at(-1) ?? null) : null;
      return { workspaces, total: ids.length, ...pageInfo(scope, damaged, last) };
    },
    { omitted: {} },
  ),

  updateWorkspace: operation(
    z.strictObject({
      workspaceId: workspaceIdInput.optional(),
      name: text(1, 256).nullable().optional(),
    }),
    async (context, { workspaceId = context.workspaceId, name }) => {
      const isOwn = workspaceId === context.workspaceId;
      if (!isOwn) await context.call?.isFirst();
      const its = isOwn ? context : { ...context, workspaceId, call: null };
      return transact(its, async ({ transaction, audit }) => {
        const written = name === undefined ? null : await writeWorkspace(transaction, { name });
        if (written === null) return {};
        const [before, after] = [{ name: written.before?.name ?? null }, { name: name ?? null }];
        const unreadable = written.before === null;
        audit({ type: "workspace.updated", resourceId: workspaceId, before, after, unreadable });
        return {};
      });
    },
  ),

  /**
   * Closes the workspace in one step, by its state, which is deleted last. So a call that fails on the way leaves it closed, and the next
   * one continues.
   *
   * @see packages/core/decisions/0048-a-workspace-is-forgotten-by-its-store.md
   */
  deleteWorkspace: operation(deleteWorkspaceInput, async (context, { workspaceId }) => {
    const { store, emit, timer } = context;
    await context.call?.isFirst();
    const its: OperationContext = { ...context, workspaceId, call: null };
    const startedAt = timer();
    await close(its);
    // Only while its state exists: if nothing is left, there is nothing to wait for.
    await context.awaitLeases(workspaceId);
    await afterWriting(async () => {
      await deletePointers(its);
      // Another process may have finished while this one stood still, and the id may have been used again.
      for (let after: string | null = null; await isBeingDeleted(its); ) {
        after = await store.forget(workspaceId, after);
        if (after === null) break;
        await yieldToEventLoop();
      }
    });
    // Drops what this process counted: once the id is used again, it would be added.
    await context.recorder?.flush(workspaceId);
    // Remembering the call would bring the workspace back.
    if (workspaceId === context.workspaceId) context.call?.forgo();
    const entry = buildAuditEntry(its, { type: "workspace.deleted", resourceId: workspaceId });
    emit?.({ ...toAuditEvent(entry), durationMs: timer() - startedAt });
    return {};
  }),
} satisfies TableOf<WorkspaceOperations>;

/**
 * Enables, disables or renames a workspace, even one that was never written, and makes every process read it again; null if nothing
 * changes. `before`: null if its record could not be read.
 */
async function writeWorkspace(
  transaction: Transaction,
  fields: Partial<Pick<WorkspaceRecord, "enabled" | "name">>,
): Promise<{ readonly before: WorkspaceRecord | null } | null> {
  const { workspaceId } = transaction;
  const stored = await readStored(transaction, { kind: "workspace", id: workspaceId });
  const unwritten = unwrittenWorkspace(workspaceId);
  let before: WorkspaceRecord | null = unwritten;
  if (stored !== null && fields.enabled === undefined)
    before = workspaceType.decode(stored, workspaceId);
  // The kill switch must work even if the record cannot be read; only the name is lost.
  else if (stored !== null) before = decodeOrNull(workspaceType, stored, transaction);
  const after = { ...(before ?? { ...unwritten, version: stored?.version ?? 0 }), ...fields };
  if (before?.enabled === after.enabled && before.name === after.name) return null;
  transaction.update(workspaceType, before ?? unwritten, after);
  transaction.renewRevision();
  return { before };
}

async function readWorkspace(context: OperationContext): Promise<WorkspaceRecord> {
  const { workspaceId } = context;
  const loaded = await findRecord(context, { kind: "workspace", id: workspaceId });
  return workspaceOf(loaded?.record, workspaceId);
}

async function viewWorkspace(context: OperationContext): Promise<WorkspaceView> {
  const { id, name, enabled } = await readWorkspace(context);
  return withoutNull({ id, name, enabled });
}

/** The view of a workspace; null if its record is damaged. */
function viewOrNull(context: OperationContext, workspaceId: string): Promise<WorkspaceView | null> {
  return withoutReadableRecord<WorkspaceView | null>(
    () => viewWorkspace({ ...context, workspaceId }),
    async () => null,
  );
}

/** The ids of all workspaces, ascending: stores return names in any order, and also those of partitions that are no workspace. */
async function workspaceIds({ store }: OperationContext): Promise<readonly string[]> {
  const ids = new Set<string>();
  let after: string | null = null;
  do {
    const { names, next } = await store.scan(null, after);
    for (const name of names) if (WORKSPACE_ID_PATTERN.test(name)) ids.add(name);
    after = next;
  } while (after !== null);
  return [...ids].sort();
}

async function close(its: OperationContext): Promise<void> {
  await transact(its, async ({ transaction }) => {
    const stored = await readState(transaction);
    const state = stateOf(stored);
    if (state?.state === "deleting") return;
    if (state?.state === "followed")
      throw new LatchkeyError(
        "PRECONDITION_FAILED",
        "the store is being copied: wait until that has finished, then delete the workspace",
      );
    await writeWorkspace(transaction, { enabled: false });
    const deleting = { state: "deleting", transfer: "" } as const;
    const version = stored?.record.version ?? 0;
    transaction.putAnew(stateRecord(deleting, version, leaseTimesOf(stored)));
    transaction.renewRevision();
  });
}

/** Whether a workspace is still being deleted. That it is not is durable: another call may have finished, and may fail to confirm it. */
async function isBeingDeleted(its: OperationContext): Promise<boolean> {
  const isDeleting = (stored: LoadedRecord | null) => stateOf(stored)?.state === "deleting";
  return (
    isDeleting(await findRecord(its, STATE_ADDRESS)) ||
    transact(its, async ({ transaction }) => isDeleting(await readState(transaction)))
  );
}

/** The record of the state, which the commit expects to be unchanged. */
async function readState(transaction: Transaction): Promise<LoadedRecord | null> {
  const stored = await transaction.readOne(STATE_ADDRESS);
  if (stored === null) transaction.expectAbsent(STATE_ADDRESS);
  return stored;
}

/** Deletes the pointers to the root keys of a workspace, which are in the directory. */
async function deletePointers(its: OperationContext): Promise<void> {
  for await (const page of listPages(its, { kind: "rootKey", limit: POINTERS_AT_ONCE })) {
    const hashes = decodeAll(rootKeyType, page, its).map(({ hash }) => hash);
    if (hashes.length === 0) continue;
    if (!(await isBeingDeleted(its))) return;
    await its.transact(DIRECTORY_ID, async (transaction) => {
      for (const id of hashes) transaction.deleteAddress({ kind: "rootKeyPointer", id }, [], []);
    });
  }
}
