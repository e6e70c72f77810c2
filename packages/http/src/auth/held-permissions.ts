import {
  isRootAllowed,
  isRootPermission,
  type RootPermission,
  type VerifyScope,
} from "@latchkey/core";

/** An action on APIs and their keys. */
type ApiAction = Extract<RootPermission, { readonly resource: "api" }>["action"];

/** The APIs on which these permissions allow an action: all, or the ones that they name. */
export function apiScope(permissions: readonly string[], action: ApiAction): VerifyScope {
  const isForAll = isRootAllowed(permissions, { resource: "api", id: null, action });
  return isForAll ? {} : { apiIds: namedApiIds(permissions, action) };
}

/**
 * Whether an action is allowed on an API.
 *
 * @param apiId - As received, not checked yet; undefined if any API will do.
 */
export function canActOn({ apiIds }: VerifyScope, apiId: unknown): boolean {
  if (apiIds === undefined) return true;
  return apiId === undefined ? apiIds.length > 0 : apiIds.some((id) => id === apiId);
}

/** Ids of the APIs named by permissions with this action. */
function namedApiIds(permissions: readonly string[], action: ApiAction): string[] {
  return permissions.flatMap((permission) => {
    const [resource, id = "*", held] = isRootPermission(permission) ? permission.split(".") : [];
    return resource === "api" && id !== "*" && held === action ? [id] : [];
  });
}
