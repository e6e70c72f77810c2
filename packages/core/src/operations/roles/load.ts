import { LatchkeyError } from "../../errors.js";
import type { RoleRecord } from "../../records/role.js";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";

/** Rounds after which a read gives up on a workspace whose permissions are changed all the time. */
const MAX_ROUNDS = 100;

/** Reads roles until their permissions could be read at the same revision. */
export async function loadRoles(
  { catalog, workspaceId }: Pick<OperationContext, "catalog" | "workspaceId">,
  read: () => Promise<{ readonly values: readonly RoleRecord[]; readonly revision: number }>,
): Promise<{
  readonly values: readonly RoleRecord[];
  /** Of each role, in ascending order of name. */
  readonly permissions: readonly (readonly NamedGrant[])[];
}> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { values, revision } = await read();
    const permissions = await catalog.loadRoles(workspaceId, revision, values);
    if (permissions !== null) return { values, permissions };
  }
  throw new LatchkeyError(
    "STORE_UNAVAILABLE",
    "the permissions of the roles kept changing while they were read",
    { outcome: "not-applied" },
  );
}
