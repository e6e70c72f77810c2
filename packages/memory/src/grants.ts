import {
  effectivePermissions,
  type GrantReference,
  type Grants,
  type MissingGrants,
  type PermissionRecord,
  type RoleRecord,
} from "@latchkey/core";
import { frozenCopy } from "./frozen.js";

/** A role with the permissions it gives. */
export interface StoredRole extends RoleRecord {
  readonly permissions: readonly PermissionRecord[];
}

/** Roles and permissions of one key, with the names that a verification asks for. */
export interface HeldGrants {
  readonly roles: readonly StoredRole[];
  readonly permissions: readonly PermissionRecord[];
  readonly roleNames: readonly string[];
  /** Direct and through roles. */
  readonly permissionNames: readonly string[];
}

const NOTHING: readonly never[] = Object.freeze([]);

/** Shared by all keys that hold nothing. */
export const NO_GRANTS: HeldGrants = {
  roles: NOTHING,
  permissions: NOTHING,
  roleNames: NOTHING,
  permissionNames: NOTHING,
};

/** Roles or permissions of one workspace, found by id and by name. */
class GrantCatalog<Item extends { readonly id: string; readonly name: string }> {
  readonly #byId = new Map<string, Item>();
  readonly #byName = new Map<string, Item>();

  hasName(name: string): boolean {
    return this.#byName.has(name);
  }

  add(item: Item): void {
    this.#byId.set(item.id, item);
    this.#byName.set(item.name, item);
  }

  find(reference: GrantReference<unknown>): Item | undefined {
    return reference.kind === "id"
      ? this.#byId.get(reference.id)
      : this.#byName.get(reference.name);
  }
}

/** What a list of references stands for. Nothing is written yet. */
export interface ResolvedGrants<Item> {
  /** Each item once, in the order in which it was first asked for. */
  readonly items: readonly Item[];
  /** Those of the items that are still to be written. */
  readonly created: readonly Item[];
  /** Names and ids that nothing goes by, in the order asked, each once. */
  readonly missing: readonly string[];
}

/** Looks every reference up; a name that may be created is, once, however often it is asked for. */
function resolveGrants<Item extends { readonly id: string; readonly name: string }, Definition>(
  references: readonly GrantReference<Definition>[],
  catalog: GrantCatalog<Item>,
  create: (definition: Definition) => Item,
): ResolvedGrants<Item> {
  const items = new Set<Item>();
  const created = new Map<string, Item>();
  const missing = new Set<string>();
  for (const reference of references) {
    const known = catalog.find(reference);
    if (known !== undefined) items.add(known);
    else if (reference.kind === "id") missing.add(reference.id);
    else if (reference.orCreate === null) missing.add(reference.name);
    else {
      const item = created.get(reference.name) ?? create(reference.orCreate);
      created.set(reference.name, item);
      items.add(item);
    }
  }
  return { items: [...items], created: [...created.values()], missing: [...missing] };
}

/** The roles and permissions that a workspace has. */
export class WorkspaceGrants {
  readonly roles = new GrantCatalog<StoredRole>();
  readonly permissions = new GrantCatalog<PermissionRecord>();

  resolvePermissions(
    references: readonly GrantReference<PermissionRecord>[],
  ): ResolvedGrants<PermissionRecord> {
    return resolveGrants(references, this.permissions, frozenCopy);
  }

  /**
   * What a key holds once its sets are the ones given; a set left undefined stays as it is. Where something
   * is missing, nothing is written; otherwise `commit` writes what is new.
   */
  resolve(
    held: HeldGrants,
    grants: Grants,
  ): MissingGrants | { readonly kind: "resolved"; readonly commit: () => HeldGrants } {
    const newRoles =
      grants.roles && resolveGrants(grants.roles, this.roles, roleWithoutPermissions);
    const newPermissions = grants.permissions && this.resolvePermissions(grants.permissions);
    const missing = missingGrants(newRoles?.missing, newPermissions?.missing);
    if (missing !== null) return missing;
    return {
      kind: "resolved",
      commit: () => {
        for (const role of newRoles?.created ?? []) this.roles.add(role);
        for (const permission of newPermissions?.created ?? []) this.permissions.add(permission);
        return holdGrants(newRoles?.items ?? held.roles, newPermissions?.items ?? held.permissions);
      },
    };
  }
}

/** The refusal for what is missing, or null where nothing is. */
export function missingGrants(
  roles: readonly string[] = [],
  permissions: readonly string[] = [],
): MissingGrants | null {
  if (roles.length === 0 && permissions.length === 0) return null;
  return { kind: "missing-grants", roles, permissions };
}

function roleWithoutPermissions(role: RoleRecord): StoredRole {
  return frozenCopy({ ...role, permissions: [] });
}

function holdGrants(
  roles: readonly StoredRole[],
  permissions: readonly PermissionRecord[],
): HeldGrants {
  if (roles.length === 0 && permissions.length === 0) return NO_GRANTS;
  const throughRoles = roles.map((role) => role.permissions.map(({ name }) => name));
  const direct = permissions.map(({ name }) => name);
  return {
    roles,
    permissions,
    roleNames: Object.freeze(roles.map(({ name }) => name).sort()),
    permissionNames: Object.freeze(effectivePermissions(direct, throughRoles)),
  };
}
