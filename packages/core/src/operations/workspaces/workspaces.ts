import { z } from "zod";
import { isCorruptRecord } from "../../errors.js";
import {
  unwrittenWorkspace,
  WORKSPACE_ID_PATTERN,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import { afterCursor, type OperationContext, randomRepeated, transact } from "../context.js";
import { flag, pageInput, parseInput, text } from "../input.js";
import { operation, type Run, type TableOf } from "../operation.js";
import { findRecord, pageInfo } from "../read.js";
import { deleteWorkspace } from "./delete-workspace.js";
import type { WorkspaceOperations, WorkspaceView } from "./operations.js";
import { workspaceIdInput, writeWorkspace } from "./write-workspace.js";

const setWorkspaceEnabledInput = z.strictObject({ enabled: flag });

const setWorkspaceEnabled: Run<WorkspaceOperations["setWorkspaceEnabled"]> = async (
  context,
  enabled,
) => {
  const parsed = parseInput(setWorkspaceEnabledInput, { enabled });
  const { workspaceId } = context;
  await transact(context, async ({ transaction, audit }) => {
    const written = await writeWorkspace(transaction, parsed);
    if (written === null) return;
    const type = parsed.enabled ? "workspace.enabled" : "workspace.disabled";
    audit({ type, resourceId: workspaceId, unreadable: written.before === null });
  });
};

export const WORKSPACE_TABLE = {
  createWorkspace: operation(
    z.strictObject({ name: text(1, 256).optional() }),
    async (context, { name = null }) => {
      const newId = () => context.newId("ws");
      // A repeat uses the same id: what it finds there was created before.
      const workspaceId = (await context.call?.madeOnce(newId)) ?? newId();
      const address = { kind: "workspace", id: workspaceId } as const;
      // In the new workspace, and in its log: it is the one that this is about.
      await transact({ ...context, workspaceId, call: null }, async ({ transaction, audit }) => {
        if ((await transaction.readOne(address)) !== null) {
          if (context.call !== null) return;
          throw randomRepeated("no workspace was created");
        }
        transaction.expect({ ...address, version: null });
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

  setWorkspaceEnabled: { run: setWorkspaceEnabled, input: setWorkspaceEnabledInput },

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

  deleteWorkspace,
} satisfies TableOf<WorkspaceOperations>;

async function readWorkspace(context: OperationContext): Promise<WorkspaceRecord> {
  const { workspaceId } = context;
  const loaded = await findRecord(context, { kind: "workspace", id: workspaceId });
  if (loaded === null) return unwrittenWorkspace(workspaceId);
  return workspaceType.decode(loaded.record, workspaceId);
}

async function viewWorkspace(context: OperationContext): Promise<WorkspaceView> {
  const { id, name, enabled } = await readWorkspace(context);
  return { id, ...(name !== null && { name }), enabled };
}

/** Null for one whose record is damaged. */
async function viewOrNull(
  context: OperationContext,
  workspaceId: string,
): Promise<WorkspaceView | null> {
  try {
    return await viewWorkspace({ ...context, workspaceId });
  } catch (error) {
    if (isCorruptRecord(error)) return null;
    throw error;
  }
}

/** In ascending order, without partitions of no workspace. Stores return them in no order. */
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
