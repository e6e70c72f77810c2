import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { missingGrants, notFound, type OperationContext, untilFresh } from "../context.js";
import { grantName, id, list, parseInput } from "../input.js";
import { roleFacts } from "./view.js";

/** Input of setRolePermissions. `permissions`: at most 1,000 names of existing permissions; an empty list clears them. */
export const setRolePermissionsInput = z.strictObject({
  roleId: id,
  permissions: list(grantName, 1_000, "names"),
});

/**
 * Makes these the permissions of a role. Every key that has the role sees it with its next verification.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such role, `PRECONDITION_FAILED` naming every permission
 * that does not exist; nothing is written then.
 */
export async function setRolePermissions(
  context: OperationContext,
  input: z.input<typeof setRolePermissionsInput>,
): Promise<Record<string, never>> {
  const { roleId, permissions } = parseInput(setRolePermissionsInput, input);
  const { store, workspaceId } = context;
  return untilFresh(async () => {
    const loaded = await store.getRole(workspaceId, roleId);
    if (loaded === null) throw notFound("role");
    const { role } = loaded;
    const names = loaded.permissions.map(({ name }) => name);
    const changes = [
      noteChange(context, {
        type: "role.updated",
        at: context.now(),
        resourceId: roleId,
        before: roleFacts(role, names),
        after: roleFacts(role, permissions),
      }),
    ];
    const outcome = await store.setRolePermissions(
      workspaceId,
      roleId,
      role.version,
      permissions.map((name) => ({ kind: "name", name, orCreate: null })),
      toLog(context, changes),
    );
    switch (outcome.kind) {
      case "updated":
        announce(context, changes);
        return {};
      case "stale":
        return "stale";
      case "not-found":
        throw notFound("role");
      case "missing-grants":
        throw missingGrants(outcome);
      default:
        return outcome satisfies never;
    }
  });
}
