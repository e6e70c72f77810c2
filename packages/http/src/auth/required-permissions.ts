import type { KeysReference, RootPermission } from "@latchkey/core";

/** The resource that a permission for one resource, such as `api.<apiId>.read_key`, must name. */
export type Subject =
  /** None: only the form for all resources, `api.*.…`, is enough. */
  | { readonly kind: "none" }
  | { readonly kind: "api"; readonly apiId: string }
  /** Any API: the operation itself sees only the APIs that the caller's permissions name. */
  | { readonly kind: "any-api" }
  /** The API of a key, by the key's id. */
  | { readonly kind: "key"; readonly keyId: string }
  /** The API of a key, by its secret. */
  | { readonly kind: "secret"; readonly secret: string }
  /** The namespace of a rate limit without a key. */
  | { readonly kind: "namespace"; readonly namespace: string }
  | {
      readonly kind: "identity";
      readonly identityId: string | undefined;
      readonly externalId: string | undefined;
    }
  /** An identity, by its id or its external id. */
  | { readonly kind: "identity-by-any-id"; readonly anyId: string };

/** What a caller must hold: every permission, for all resources of its kind or for the subject. */
export interface RequiredPermissions {
  /** Each with the id null: `subject` says which resource. */
  readonly permissions: readonly RootPermission[];
  readonly subject: Subject;
  /** Required as well, for other subjects. */
  readonly and?: readonly RequiredPermissions[];
  /**
   * Required as well if the record turns out to be of a certain kind, which only the operation can see: it checks this one
   * itself. Every refusal names it, so that a refusal does not reveal the kind of the record.
   */
  readonly conditional?: { readonly permission: RootPermission; readonly when: string };
}

type ActionOf<Resource extends RootPermission["resource"]> = Extract<
  RootPermission,
  { readonly resource: Resource }
>["action"];

const NO_SUBJECT: Subject = { kind: "none" };

/** No permission at all: any authenticated caller will do. */
export const NO_PERMISSIONS: RequiredPermissions = { permissions: [], subject: NO_SUBJECT };

/** Actions on the audit log, events, usage, root keys, roles and permissions of the workspace. */
export function onWorkspace<Resource extends "audit" | "events" | "rbac" | "root" | "usage">(
  resource: Resource,
  ...actions: readonly ActionOf<Resource>[]
): RequiredPermissions {
  const permissions = actions.map((action) => ({ resource, id: null, action }) as RootPermission);
  return { permissions, subject: NO_SUBJECT };
}

/** Actions on APIs and their keys; without a subject, on all APIs. */
export function onApi(
  actions: readonly ActionOf<"api">[],
  subject = NO_SUBJECT,
): RequiredPermissions {
  return { permissions: actions.map((action) => ({ resource: "api", id: null, action })), subject };
}

/** Actions on the API with this id. */
export function onApiById(
  apiId: string,
  ...actions: readonly ActionOf<"api">[]
): RequiredPermissions {
  return onApi(actions, { kind: "api", apiId });
}

/** An action on the keys of an API; without `apiId`, on the keys of any APIs that the caller's permissions name. */
export function onKeysOf(apiId: string | undefined, action: ActionOf<"api">): RequiredPermissions {
  return apiId === undefined ? onApi([action], { kind: "any-api" }) : onApiById(apiId, action);
}

/** Reading keys of an API; without `apiId`, of all APIs. */
export function toListKeys({
  apiId,
  decrypt,
}: {
  readonly apiId?: string | undefined;
  readonly decrypt?: boolean | null | undefined;
}): RequiredPermissions {
  const actions = ["read_key", "read_api"] as const;
  const subject: Subject = apiId === undefined ? NO_SUBJECT : { kind: "api", apiId };
  return onApi(decrypt === true ? [...actions, "decrypt_key"] : actions, subject);
}

/** Actions on the API that this key belongs to. */
export function onApiOfKey(
  keyId: string,
  ...actions: readonly ActionOf<"api">[]
): RequiredPermissions {
  return onApi(actions, { kind: "key", keyId });
}

/** Actions on the API of the key with this secret. */
export function onApiOfSecret(
  secret: string,
  ...actions: readonly ActionOf<"api">[]
): RequiredPermissions {
  return onApi(actions, { kind: "secret", secret });
}

/** Actions on keys as deleteKeys names them: the keys of one API, single keys, or all keys of an owner. */
export function onKeys(
  { apiId, keyIds }: Pick<KeysReference, "apiId" | "keyIds">,
  ...actions: readonly ActionOf<"api">[]
): RequiredPermissions {
  if (apiId !== undefined) return onApiById(apiId, ...actions);
  const named = [...new Set(keyIds)];
  return named.length === 0
    ? onApi(actions)
    : allOf(named.map((keyId) => onApiOfKey(keyId, ...actions)));
}

/** All of these together; nothing for an empty list. */
export function allOf([
  first = NO_PERMISSIONS,
  ...others
]: readonly RequiredPermissions[]): RequiredPermissions {
  return { ...first, and: others };
}

/** An action on the rate limits of a namespace. */
export function onNamespace(namespace: string, action: ActionOf<"ratelimit">): RequiredPermissions {
  const subject: Subject = { kind: "namespace", namespace };
  return { permissions: [{ resource: "ratelimit", id: null, action }], subject };
}

/** An action on an identity; without ids, on all identities. `identityId` wins if both are given. */
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

/** An action on the identity with this id or external id. */
export function onIdentityByAnyId(
  action: ActionOf<"identity">,
  anyId: string,
): RequiredPermissions {
  return {
    permissions: [{ resource: "identity", id: null, action }],
    subject: { kind: "identity-by-any-id", anyId },
  };
}

/** The given permissions, and actions on roles and permissions. */
export function andRbac(
  required: RequiredPermissions,
  actions: readonly ActionOf<"rbac">[],
): RequiredPermissions {
  const further = onWorkspace("rbac", ...actions).permissions;
  return { ...required, permissions: [...required.permissions, ...further] };
}

/** Actions on roles and permissions. */
export function onRbac(...actions: readonly ActionOf<"rbac">[]): RequiredPermissions {
  return onWorkspace("rbac", ...actions);
}

/** The action, if an item has `create: true`, even if nothing is missing. */
export function ifCreating<Action extends "create_role" | "create_permission">(
  items: readonly (string | { readonly create?: boolean | undefined })[] | undefined,
  action: Action,
): readonly Action[] {
  const canCreate = items?.some((item) => typeof item === "object" && item.create === true);
  return canCreate === true ? [action] : [];
}
