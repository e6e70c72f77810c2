import { NAMESPACE_PATTERN } from "./rate-limit.js";

/** Actions of root keys on an API and its keys. */
export const API_ACTIONS = [
  "create_api",
  "read_api",
  "update_api",
  "delete_api",
  "create_key",
  "read_key",
  "update_key",
  "delete_key",
  "encrypt_key",
  "decrypt_key",
  "verify_key",
  "reserve_key",
  "settle_reservation",
  "read_reservation",
] as const;

/** Actions of root keys on identities. */
export const IDENTITY_ACTIONS = [
  "create_identity",
  "read_identity",
  "update_identity",
  "delete_identity",
  "erase_identity",
  "read_reservation",
] as const;

/** Actions of root keys on roles and permissions. */
export const RBAC_ACTIONS = [
  "create_role",
  "read_role",
  "update_role",
  "delete_role",
  "create_permission",
  "read_permission",
  "update_permission",
  "delete_permission",
  "add_role_to_key",
  "remove_role_from_key",
  "add_permission_to_key",
  "remove_permission_from_key",
  "add_permission_to_role",
  "remove_permission_from_role",
] as const;

/** Actions of root keys on rate limits that belong to no key. */
export const RATELIMIT_ACTIONS = ["limit"] as const;

/** Actions of root keys on the audit log. */
export const AUDIT_ACTIONS = ["read_audit", "delete_audit"] as const;

/** Actions of root keys on events. */
export const EVENT_ACTIONS = ["read_event", "notice_event"] as const;

/** Actions of root keys on usage. */
export const USAGE_ACTIONS = ["read_usage"] as const;

/** Actions of root keys on root keys. */
export const ROOT_KEY_ACTIONS = [
  "create_root_key",
  "read_root_key",
  "update_root_key",
  "revoke_root_key",
] as const;

/** The actions on each kind of resource. */
interface ActionsOn {
  readonly api: typeof API_ACTIONS;
  readonly identity: typeof IDENTITY_ACTIONS;
  readonly rbac: typeof RBAC_ACTIONS;
  readonly ratelimit: typeof RATELIMIT_ACTIONS;
  readonly audit: typeof AUDIT_ACTIONS;
  readonly events: typeof EVENT_ACTIONS;
  readonly root: typeof ROOT_KEY_ACTIONS;
  readonly usage: typeof USAGE_ACTIONS;
}

const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  api: API_ACTIONS,
  identity: IDENTITY_ACTIONS,
  rbac: RBAC_ACTIONS,
  ratelimit: RATELIMIT_ACTIONS,
  audit: AUDIT_ACTIONS,
  events: EVENT_ACTIONS,
  root: ROOT_KEY_ACTIONS,
  usage: USAGE_ACTIONS,
} satisfies ActionsOn;

/** A permission that a management call requires: an action on one resource, or on all of its kind (null). The id of `ratelimit` is a namespace. */
export type RootPermission = {
  readonly [Resource in keyof ActionsOn]: {
    readonly resource: Resource;
    readonly id: Resource extends "api" | "identity" | "ratelimit" ? string | null : null;
    readonly action: ActionsOn[Resource][number];
  };
}[keyof ActionsOn];

/** Error message for a text that {@link isRootPermission} does not accept. */
export function rootPermissionProblem(text: string): string {
  const [resource = ""] = text.split(".", 1);
  const action = text.slice(text.lastIndexOf(".") + 1);
  const actions = Object.hasOwn(ACTIONS, resource) ? ACTIONS[resource] : undefined;
  if (actions === undefined)
    return `must be "*" or <${Object.keys(ACTIONS).join("|")}>.<id or *>.<action>`;
  if (!actions.includes(action))
    return `must end with an action of ${resource}: ${actions.join(", ")}`;
  const ids = ID_PATTERNS[resource] === undefined ? '"*"' : '"*" or an id';
  return `must have ${ids} between ${resource} and ${action}`;
}

const RECORD_ID = /^[a-z]+_[A-Za-z0-9]+$/;

/** Ids that can name one resource of its kind. */
const ID_PATTERNS: Readonly<Record<string, RegExp>> = {
  api: RECORD_ID,
  identity: RECORD_ID,
  ratelimit: NAMESPACE_PATTERN,
};

/** What {@link isRootPermission} accepts. */
export const ROOT_PERMISSION_PATTERN = new RegExp(
  `^(?:${["\\*", ...Object.entries(ACTIONS).map(formOf)].join("|")})$`,
);

function formOf([resource, actions]: [string, readonly string[]]): string {
  // Each pattern matches a whole text; only what is between `^` and `$` is used.
  const id = ID_PATTERNS[resource]?.source.slice(1, -1);
  const ids = id === undefined ? "\\*" : `(?:\\*|${id})`;
  return `${resource}\\.${ids}\\.(?:${actions.join("|")})`;
}

/**
 * Whether a text is a permission that a root key can hold: `*`, or `<resource>.<id or *>.<action>` with a known
 * resource and action (`api.*.create_key`, `identity.id_123.read_identity`). `rbac`, `audit`, `events`, `root` and `usage` have no ids, only `*`. The id of
 * `ratelimit` is a namespace, which may hold dots itself.
 */
export function isRootPermission(text: string): boolean {
  return ROOT_PERMISSION_PATTERN.test(text);
}

/** The narrowest text that grants a permission. */
export function rootPermissionName({ resource, id, action }: RootPermission): string {
  return `${resource}.${id ?? "*"}.${action}`;
}

/** Whether `held` grants a permission: by `*`, for all of its kind, or for this id. */
export function isRootAllowed(held: readonly string[], needed: RootPermission): boolean {
  return (
    held.includes("*") ||
    held.includes(`${needed.resource}.*.${needed.action}`) ||
    held.includes(rootPermissionName(needed))
  );
}

/** Whether `held` grants all that a root key with this permission may do: by the same permission, by its form for all ids, or by `*`. */
export function isGrantCovered(held: readonly string[], permission: string): boolean {
  const resource = permission.slice(0, permission.indexOf("."));
  const forAll = `${resource}.*${permission.slice(permission.lastIndexOf("."))}`;
  return held.includes("*") || held.includes(permission) || held.includes(forAll);
}
