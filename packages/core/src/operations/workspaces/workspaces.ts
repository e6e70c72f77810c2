import { z } from "zod";
import {
  unwrittenWorkspace,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import { type OperationContext, randomRepeated, transact } from "../context.js";
import { decodeOrNull, versionIfReadable } from "../damaged.js";
import { flag, parseInput, text } from "../input.js";
import type { Run, TableOf } from "../run.js";
import type { WorkspaceOperations } from "./operations.js";

const createWorkspaceInput = z.strictObject({ name: text(1, 256).optional() });

const setWorkspaceEnabledInput = z.strictObject({ enabled: flag });

const createWorkspace: Run<WorkspaceOperations["createWorkspace"]> = async (
  context,
  input = {},
) => {
  const { name = null } = parseInput(createWorkspaceInput, input);
  const workspaceId = context.newId("ws");
  // In the new workspace, and in its log: it is the one that this is about.
  await transact({ ...context, workspaceId }, async (transaction, audit) => {
    const known = await transaction.readOne({ kind: "workspace", id: workspaceId });
    if (known !== null) throw randomRepeated("no workspace was created");
    transaction.expect({ kind: "workspace", id: workspaceId, version: null });
    transaction.insert(workspaceType, { id: workspaceId, name, enabled: true, version: 1 });
    transaction.renewRevision();
    audit({
      type: "workspace.created",
      resourceId: workspaceId,
      after: { name, enabled: true },
    });
  });
  return { workspaceId };
};

const getWorkspace: Run<WorkspaceOperations["getWorkspace"]> = async (context) => {
  const { id, name, enabled } = await readWorkspace(context);
  return { id, ...(name !== null && { name }), enabled };
};

const isWorkspaceEnabled: Run<WorkspaceOperations["isWorkspaceEnabled"]> = async (context) =>
  (await readWorkspace(context)).enabled;

const setWorkspaceEnabled: Run<WorkspaceOperations["setWorkspaceEnabled"]> = async (
  context,
  enabled,
) => {
  const parsed = parseInput(setWorkspaceEnabledInput, { enabled });
  const { workspaceId } = context;
  await transact(context, async (transaction, audit) => {
    const address = { kind: "workspace", id: workspaceId } as const;
    const loaded = await transaction.readOne({ ...address, expects: "nothing" });
    const expected = loaded === null ? null : versionIfReadable(loaded.record);
    transaction.expect({ ...address, version: expected, handle: loaded?.handle });
    // A record that cannot be read must not keep the kill switch from working; only a name is lost.
    const before = loaded === null ? null : decodeOrNull(workspaceType, loaded.record, workspaceId);
    if ((loaded === null || before?.enabled) === parsed.enabled) return;
    const workspace = before ?? unwrittenWorkspace(workspaceId);
    transaction.update(workspaceType, workspace, { ...workspace, enabled: parsed.enabled });
    transaction.renewRevision();
    audit({
      type: parsed.enabled ? "workspace.enabled" : "workspace.disabled",
      resourceId: workspaceId,
      unreadable: loaded !== null && before === null,
    });
  });
};

async function readWorkspace({ store, workspaceId }: OperationContext): Promise<WorkspaceRecord> {
  const { found } = await store.read(workspaceId, [{ kind: "workspace", id: workspaceId }]);
  const [loaded = null] = found;
  if (loaded === null) return unwrittenWorkspace(workspaceId);
  return workspaceType.decode(loaded.record, workspaceId);
}

/** How {@link WorkspaceOperations} run. */
export const WORKSPACE_TABLE = {
  createWorkspace: { run: createWorkspace, input: createWorkspaceInput },
  getWorkspace: { run: getWorkspace, input: null },
  isWorkspaceEnabled: { run: isWorkspaceEnabled, input: null },
  setWorkspaceEnabled: { run: setWorkspaceEnabled, input: setWorkspaceEnabledInput },
} satisfies TableOf<WorkspaceOperations>;
