import { z } from "zod";
import { workspaceType } from "../../records/workspace.js";
import { type OperationContext, randomRepeated, transact } from "../context.js";
import { parseInput, text } from "../input.js";

/** Input of createWorkspace. `name`: 1 to 256 characters. */
export const createWorkspaceInput = z.strictObject({ name: text(1, 256).optional() });

/**
 * Creates a workspace, switched on, with an id that is new. Work in it with `latchkey.workspace(workspaceId)`.
 *
 * Nothing needs it: every id names a workspace. What it adds is an id that no other tenant has, and a name.
 */
export async function createWorkspace(
  context: OperationContext,
  input: z.input<typeof createWorkspaceInput> = {},
): Promise<{ readonly workspaceId: string }> {
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
