import { z } from "zod";
import { workspaceType } from "../../records/workspace.js";
import { type OperationContext, randomRepeated, transact } from "../context.js";
import { parseInput, text } from "../input.js";

/** Input of createWorkspace. */
export interface CreateWorkspaceInput {
  /** For people: 1 to 256 characters. */
  readonly name?: string | undefined;
}

/** Schema of the input of createWorkspace. */
export const createWorkspaceInput = z.strictObject({ name: text(1, 256).optional() });

/** A workspace that was created. */
export interface CreatedWorkspace {
  /** `ws_…` */
  readonly workspaceId: string;
}

/** @see WorkspaceOperations.createWorkspace */
export async function createWorkspace(
  context: OperationContext,
  input: CreateWorkspaceInput = {},
): Promise<CreatedWorkspace> {
  const { name = null } = parseInput(createWorkspaceInput, input);
  const workspaceId = context.newId("ws");
  // In the new workspace, and in its log: it is the one that this is about.
  await transact({ ...context, workspaceId }, async (transaction, audit) => {
    const known = await transaction.readOne({ kind: "workspace", id: workspaceId });
    if (known !== null) throw randomRepeated("no workspace was created");
    transaction.expect({ kind: "workspace", id: workspaceId, version: null });
    transaction.insert(workspaceType, { id: workspaceId, name, enabled: true, version: 1 });
    transaction.raiseRevision();
    audit({
      type: "workspace.created",
      at: context.now(),
      resourceId: workspaceId,
      after: { name, enabled: true },
    });
  });
  return { workspaceId };
}
