import { type Session, sessionStore } from "./api.js";
import { useStore } from "./store.js";

/** What the operator may do: `can("api", "read_key", apiId)`. Without an id: with all resources of the kind. */
export interface Allowed {
  readonly can: (resource: Resource, action: string, id?: string) => boolean;
  /** Whether the action is allowed for at least one resource of the kind. */
  readonly canSome: (resource: Resource, action: string) => boolean;
  /** Ids in permissions for single resources. */
  readonly idsOf: (resource: Resource, action: string) => readonly string[];
  readonly hasTask: (name: string) => boolean;
}

export type Resource = "api" | "identity" | "rbac" | "audit" | "ratelimit" | "root";

/** Reads permissions as the server does; the server decides. */
export function allowedTo({
  permissions,
  rootKeys,
  tasks,
}: Pick<Session, "permissions" | "rootKeys" | "tasks">): Allowed {
  const held = new Set(permissions);
  const can: Allowed["can"] = (resource, action, id) =>
    (resource !== "root" || rootKeys) &&
    (held.has("*") ||
      held.has(`${resource}.*.${action}`) ||
      (id !== undefined && held.has(`${resource}.${id}.${action}`)));
  const idsOf: Allowed["idsOf"] = (resource, action) =>
    permissions.flatMap((permission) => {
      const isNamed = permission.startsWith(`${resource}.`) && permission.endsWith(`.${action}`);
      const id = permission.slice(resource.length + 1, -action.length - 1);
      return isNamed && id !== "*" ? [id] : [];
    });
  return {
    can,
    idsOf,
    canSome: (resource, action) => can(resource, action) || idsOf(resource, action).length > 0,
    hasTask: (name) => tasks.includes(name),
  };
}

const NOBODY = allowedTo({ permissions: [], rootKeys: false, tasks: [] });

/** What the operator may do; while a new sign-in is awaited, the previous operator. */
export function useAllowed(): Allowed {
  const state = useStore(sessionStore);
  if (state.kind === "in") return allowedTo(state.session);
  return state.kind === "out" && state.had !== null ? allowedTo(state.had) : NOBODY;
}
