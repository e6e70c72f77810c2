import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import type { OperationContext } from "../context.js";
import { parseInput, text } from "../input.js";

const createWorkspaceInput = z.strictObject({ name: text(1, 256).optional() });

/**
 * Makes a workspace, switched on, with an id that is new. Work in it with `latchkey.workspace(workspaceId)`.
 *
 * Nothing needs it: every id names a workspace. What it adds is an id that no other tenant has, and a name.
 */
export async function createWorkspace(
  context: OperationContext,
  input: z.input<typeof createWorkspaceInput> = {},
): Promise<{ readonly workspaceId: string }> {
  const { name = null } = parseInput(createWorkspaceInput, input);
  const workspaceId = context.newId("ws");
  const changes = [
    // In the log of the new workspace: it is the one that this is about.
    noteChange(
      { ...context, workspaceId },
      {
        type: "workspace.created",
        at: context.now(),
        resourceId: workspaceId,
        after: { name, enabled: true },
      },
    ),
  ];
  const outcome = await context.store.insertWorkspace(
    { id: workspaceId, name, enabled: true, epoch: 0 },
    toLog(context, changes),
  );
  if (outcome === "taken")
    throw new LatchkeyError(
      "INTERNAL_SERVER_ERROR",
      '"random" repeated itself; no workspace was made',
    );
  announce(context, changes);
  return { workspaceId };
}
