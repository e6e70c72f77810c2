import type { RootPermission } from "@latchkey/core";
import type { Needs, Subject } from "../operations/operation.js";

type ActionOf<Resource extends RootPermission["resource"]> = Extract<
  RootPermission,
  { readonly resource: Resource }
>["action"];

const NOBODY: Subject = { kind: "none" };

/** Needs nothing. */
export const NOTHING: Needs = { permissions: [], subject: NOBODY };

/** Actions on APIs and their keys; without a subject, on all of them. */
export function onApi(actions: readonly ActionOf<"api">[], subject = NOBODY): Needs {
  return { permissions: actions.map((action) => ({ resource: "api", id: null, action })), subject };
}

/** Actions on the API that the request names. */
export function onApiById(apiId: string, ...actions: readonly ActionOf<"api">[]): Needs {
  return onApi(actions, { kind: "api", apiId });
}

/** Actions on the API that a key belongs to. */
export function onApiOfKey(keyId: string, ...actions: readonly ActionOf<"api">[]): Needs {
  return onApi(actions, { kind: "key", keyId });
}

/** What each of a list needs; of a list of none, nothing. */
export function ofEach([first = NOTHING, ...others]: readonly Needs[]): Needs {
  return { ...first, and: others };
}

/** An action on rate limits that belong to no key, in a namespace. */
export function onNamespace(namespace: string, action: ActionOf<"ratelimit">): Needs {
  const subject: Subject = { kind: "namespace", namespace };
  return { permissions: [{ resource: "ratelimit", id: null, action }], subject };
}

/** Actions on the API that the key of a secret belongs to. */
export function onApiOfSecret(secret: string, ...actions: readonly ActionOf<"api">[]): Needs {
  return onApi(actions, { kind: "secret", secret });
}

/** An action on identities; without ids, on all of them. `identityId` wins where both are given. */
export function onIdentity(
  action: ActionOf<"identity">,
  ids?: { readonly identityId?: string | undefined; readonly externalId?: string | undefined },
): Needs {
  const subject: Subject =
    ids === undefined
      ? NOBODY
      : { kind: "identity", identityId: ids.identityId, externalId: ids.externalId };
  return { permissions: [{ resource: "identity", id: null, action }], subject };
}

/** An action on the audit log, which is always on all of it. */
export function onAudit(action: ActionOf<"audit">): Needs {
  return { permissions: [{ resource: "audit", id: null, action }], subject: NOBODY };
}

/** The same needs, and actions on roles and permissions. */
export function andRbac(needs: Needs, actions: readonly ActionOf<"rbac">[]): Needs {
  if (actions.length === 0) return needs;
  const further = actions.map((action) => ({ resource: "rbac", id: null, action }) as const);
  return { ...needs, permissions: [...needs.permissions, ...further] };
}

/** Actions on roles and permissions, which are always on all of them. */
export function onRbac(...actions: readonly ActionOf<"rbac">[]): Needs {
  return andRbac(NOTHING, actions);
}

/** The action where an item asks to be made if it is missing. Asking is what needs it, not that it happens. */
export function ifCreating<Action extends "create_role" | "create_permission">(
  items: readonly (string | { readonly create?: boolean | undefined })[] | undefined,
  action: Action,
): readonly Action[] {
  const isAsked = items?.some((item) => typeof item === "object" && item.create === true) ?? false;
  return isAsked ? [action] : [];
}
