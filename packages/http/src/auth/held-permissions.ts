import {
  isRootAllowed,
  isRootPermission,
  type RootPermission,
  type VerifyScope,
} from "@latchkey/core";

/** What is done to APIs and their keys. */
type ApiAction = Extract<RootPermission, { readonly resource: "api" }>["action"];

/** The APIs to which these permissions allow an action: all, or those that they name. */
export function apiScope(permissions: readonly string[], action: ApiAction): VerifyScope {
  const isForAll = isRootAllowed(permissions, { resource: "api", id: null, action });
  return isForAll ? {} : { apiIds: namedApiIds(permissions, action) };
}

/**
 * Whether an action is allowed to an API.
 *
 * @param apiId - As it was received, so anything; undefined if it does not matter which API.
 */
export function canActOn({ apiIds }: VerifyScope, apiId: unknown): boolean {
  if (apiIds === undefined) return true;
  return apiId === undefined ? apiIds.length > 0 : apiIds.some((id) => id === apiId);
}

/** Ids of the APIs that permissions with this action name. */
function namedApiIds(permissions: readonly string[], action: ApiAction): string[] {
  return permissions.flatMap((permission) => {
    const [resource, id = "*", held] = isRootPermission(permission) ? permission.split(".") : [];
    return resource === "api" && id !== "*" && held === action ? [id] : [];
  });
}
