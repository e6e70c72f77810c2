import { isRootAllowed, isRootPermission, type VerifyScope } from "@latchkey/core";

/** The APIs whose keys can be verified with these permissions: all, or those that they name. */
export function verifyScope(permissions: readonly string[]): VerifyScope {
  const isForAll = isRootAllowed(permissions, { resource: "api", id: null, action: "verify_key" });
  return isForAll ? {} : { apiIds: namedApiIds(permissions, "verify_key") };
}

/**
 * Whether keys of an API can be verified.
 *
 * @param apiId - As it was received, so anything; undefined if it does not matter which API.
 */
export function canVerify({ apiIds }: VerifyScope, apiId: unknown): boolean {
  if (apiIds === undefined) return true;
  return apiId === undefined ? apiIds.length > 0 : apiIds.some((id) => id === apiId);
}

/** Ids of the APIs that permissions with this action name. */
function namedApiIds(permissions: readonly string[], action: string): string[] {
  return permissions.flatMap((permission) => {
    const [resource, id = "*", held] = isRootPermission(permission) ? permission.split(".") : [];
    return resource === "api" && id !== "*" && held === action ? [id] : [];
  });
}
