import type { RootPermission } from "@latchkey/core";
import type { RequiredPermissions, Subject } from "../operations/operation.js";

type ActionOf<Resource extends RootPermission["resource"]> = Extract<
  RootPermission,
  { readonly resource: Resource }
>["action"];

const NO_SUBJECT: Subject = { kind: "none" };

/** Needs nothing. */
export const NO_PERMISSIONS: RequiredPermissions = { permissions: [], subject: NO_SUBJECT };

/** Actions on APIs and their keys; without a subject, on all of them. */
export function onApi(
  actions: readonly ActionOf<"api">[],
  subject = NO_SUBJECT,
): RequiredPermissions {
  return { permissions: actions.map((action) => ({ resource: "api", id: null, action })), subject };
}

/** Actions on the API that the request names. */
export function onApiById(
  apiId: string,
  ...actions: readonly ActionOf<"api">[]
): RequiredPermissions {
  return onApi(actions, { kind: "api", apiId });
}

/** Actions on the API that a key belongs to. */
export function onApiOfKey(
  keyId: string,
  ...actions: readonly ActionOf<"api">[]
): RequiredPermissions {
  return onApi(actions, { kind: "key", keyId });
}

/** What each of a list needs; of a list of none, nothing. */
export function ofEach([
  first = NO_PERMISSIONS,
  ...others
]: readonly RequiredPermissions[]): RequiredPermissions {
  return { ...first, and: others };
}

/** An action on rate limits that belong to no key, in a namespace. */
export function onNamespace(namespace: string, action: ActionOf<"ratelimit">): RequiredPermissions {
  const subject: Subject = { kind: "namespace", namespace };
  return { permissions: [{ resource: "ratelimit", id: null, action }], subject };
}

/** Actions on the API that the key of a secret belongs to. */
export function onApiOfSecret(
  secret: string,
  ...actions: readonly ActionOf<"api">[]
): RequiredPermissions {
  return onApi(actions, { kind: "secret", secret });
}

/** An action on identities; without ids, on all of them. `identityId` wins where both are given. */
export function onIdentity(
  action: ActionOf<"identity">,
  ids?: { readonly identityId?: string | undefined; readonly externalId?: string | undefined },
): RequiredPermissions {
  const subject: Subject =
    ids === undefined
      ? NO_SUBJECT
      : { kind: "identity", identityId: ids.identityId, externalId: ids.externalId };
  return { permissions: [{ resource: "identity", id: null, action }], subject };
}

/** An action on the audit log, which is always on all of it. */
export function onAudit(action: ActionOf<"audit">): RequiredPermissions {
  return { permissions: [{ resource: "audit", id: null, action }], subject: NO_SUBJECT };
}

/** The same needs, and actions on roles and permissions. */
export function andRbac(
  requiredPermissions: RequiredPermissions,
  actions: readonly ActionOf<"rbac">[],
): RequiredPermissions {
  if (actions.length === 0) return requiredPermissions;
  const further = actions.map((action) => ({ resource: "rbac", id: null, action }) as const);
  return { ...requiredPermissions, permissions: [...requiredPermissions.permissions, ...further] };
}

/** Actions on roles and permissions, which are always on all of them. */
export function onRbac(...actions: readonly ActionOf<"rbac">[]): RequiredPermissions {
  return andRbac(NO_PERMISSIONS, actions);
}

/** The action where an item asks to be made if it is missing. Asking is what needs it, not that it happens. */
export function ifCreating<Action extends "create_role" | "create_permission">(
  items: readonly (string | { readonly create?: boolean | undefined })[] | undefined,
  action: Action,
): readonly Action[] {
  const isAsked = items?.some((item) => typeof item === "object" && item.create === true) ?? false;
  return isAsked ? [action] : [];
}
