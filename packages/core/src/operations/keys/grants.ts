import { z } from "zod";
import { unmet } from "../../errors.js";
import { MAX_HELD } from "../../records/grants.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import { byName } from "../../verification/catalog.js";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { id, type KeyReference } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import type { References } from "../references.js";
import {
  type GrantInput,
  type GrantItem,
  type GrantKind,
  permissionList,
  readGrantItem,
  roleList,
} from "./grant-input.js";
import { changeKey } from "./update-key.js";

type KeyRolesInput = KeyReference & {
  /** Roles, by name or id: at most 100. */
  readonly roles: readonly GrantInput[];
};

type KeyPermissionsInput<Types extends LatchkeyTypes = DefaultTypes> = KeyReference & {
  /** Permissions, by name or id: at most 1,000. */
  readonly permissions: readonly GrantInput<PermissionName<Types>>[];
};

/** The roles of a key after the change. */
export interface KeyRoles {
  /** In ascending order of name. */
  readonly roles: readonly NamedGrant[];
}

/** The direct permissions of a key after the change. */
export interface KeyPermissions<Types extends LatchkeyTypes = DefaultTypes> {
  /** In ascending order of name. */
  readonly permissions: readonly NamedGrant<PermissionName<Types>>[];
}

export interface KeyGrantOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Adds roles to a key. Parallel calls do not undo each other.
   *
   * @throws LatchkeyError `NOT_FOUND`, `PRECONDITION_FAILED` naming the missing roles, or for more than 100 roles. Nothing is written then.
   * @example
   * const { roles } = await latchkey.addRoles({ keyId, roles: ["editor"] });
   */
  addRoles(input: KeyRolesInput): Promise<KeyRoles>;
  /**
   * Replaces the roles of a key; an empty list clears them.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming the missing roles. Nothing is written then.
   * @example
   * const { roles } = await latchkey.setRoles({ keyId, roles: ["editor"] });
   */
  setRoles(input: KeyRolesInput): Promise<KeyRoles>;
  /**
   * Removes roles from a key. One that it does not have is ignored.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming the missing roles. Nothing is written then.
   * @example
   * const { roles } = await latchkey.removeRoles({ keyId, roles: ["editor"] });
   */
  removeRoles(input: KeyRolesInput): Promise<KeyRoles>;
  /**
   * Adds direct permissions to a key. Parallel calls do not undo each other.
   *
   * @throws LatchkeyError `NOT_FOUND`, `PRECONDITION_FAILED` naming the missing permissions, or for more than 1,000 direct permissions.
   * Nothing is written then.
   * @example
   * const { permissions } = await latchkey.addPermissions({ keyId, permissions: ["docs.read"] });
   */
  addPermissions(input: KeyPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
  /**
   * Replaces the direct permissions of a key; an empty list clears them.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming the missing permissions. Nothing is written then.
   * @example
   * const { permissions } = await latchkey.setPermissions({ keyId, permissions: ["docs.read"] });
   */
  setPermissions(input: KeyPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
  /**
   * Removes direct permissions from a key. One that it does not have is ignored.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming the missing permissions. Nothing is written then.
   * @example
   * const { permissions } = await latchkey.removePermissions({ keyId, permissions: ["docs.read"] });
   */
  removePermissions(input: KeyPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
}

const rolesInput = z.strictObject({ keyId: id, roles: roleList });

const permissionsInput = z.strictObject({ keyId: id, permissions: permissionList });

/** The field of a key that holds grants of a kind. */
const FIELDS = { role: "roles", permission: "permissions" } as const;

/** The items of a key with these added; undefined if it has them all. */
export function grantsWith(
  held: readonly NamedGrant[],
  items: readonly GrantItem[],
): readonly GrantItem[] | undefined {
  const added = items.filter((item) => heldAs(held, item) === undefined);
  return added.length === 0 ? undefined : [...held.map(byId), ...added];
}

/** The items of a key without these; undefined if it has none of them. */
export function grantsWithout(
  held: readonly NamedGrant[],
  items: readonly GrantItem[],
): readonly GrantItem[] | undefined {
  const removed = new Set(items.map((item) => heldAs(held, item)));
  const kept = held.filter((grant) => !removed.has(grant));
  return kept.length === held.length ? undefined : kept.map(byId);
}

/** The new items of a key; undefined: unchanged. */
type ChangeHeld = (
  held: readonly NamedGrant[],
  items: readonly GrantItem[],
  kind: GrantKind,
  references: References,
) => readonly GrantItem[] | undefined;

const add: ChangeHeld = (held, items, kind) => {
  const wanted = grantsWith(held, items);
  if (wanted !== undefined) refuseTooMany(kind, wanted);
  return wanted;
};

const set: ChangeHeld = (_held, items) => items;

const remove: ChangeHeld = (held, items, kind, references) => {
  // One that the key does not have is ignored; one that does not exist is an error.
  references.requireGrants(
    kind,
    items.filter((item) => heldAs(held, item) === undefined),
  );
  return grantsWithout(held, items);
};

/** `answerOf`: builds the result from what was committed, because another call may have changed or deleted the key since. */
function changeGrants<Answer>(
  context: OperationContext,
  kind: GrantKind,
  keyId: string,
  items: readonly GrantItem[],
  change: ChangeHeld,
  answerOf: (grants: readonly NamedGrant[]) => Answer,
): Promise<Answer> {
  const field = FIELDS[kind];
  return changeKey(
    context,
    keyId,
    ({ direct }, references) => ({ [field]: change(direct[field], items, kind, references) }),
    ({ loaded: { key, direct }, after, references }) => {
      const held = new Map(direct[field].map(({ id, name }) => [id, name]));
      // Some of the kept grants may no longer exist.
      const ids = after[field] === key[field] ? [...held.keys()] : after[field];
      const grants = ids.map((id) => ({ id, name: held.get(id) ?? references.grantName(id) }));
      return answerOf(grants.sort(byName));
    },
  );
}

/** Otherwise a key, and each of its verifications, would grow with every call. */
function refuseTooMany(kind: GrantKind, wanted: readonly GrantItem[]): void {
  const limit = MAX_HELD[FIELDS[kind]];
  if (new Set(wanted.map((item) => readGrantItem(item).label)).size <= limit) return;
  throw unmet(
    "too-many-grants",
    `a key can hold at most ${limit} ${FIELDS[kind]} directly; nothing was written`,
    { limit },
  );
}

/** By id: another grant that takes its name meanwhile must not slip in. */
function byId({ id }: NamedGrant): GrantItem {
  return { id };
}

function heldAs(held: readonly NamedGrant[], item: GrantItem): NamedGrant | undefined {
  const { label, isId } = readGrantItem(item);
  return held.find(({ id, name }) => (isId ? id : name) === label);
}

const ofRoles = (change: ChangeHeld) =>
  operation(rolesInput, (context, { keyId, roles: items }) =>
    changeGrants(context, "role", keyId, items, change, (roles) => ({ roles })),
  );

const ofPermissions = (change: ChangeHeld) =>
  operation(permissionsInput, (context, { keyId, permissions: items }) =>
    changeGrants(context, "permission", keyId, items, change, (permissions) => ({ permissions })),
  );

export const GRANT_TABLE = {
  addRoles: ofRoles(add),
  setRoles: ofRoles(set),
  removeRoles: ofRoles(remove),
  addPermissions: ofPermissions(add),
  setPermissions: ofPermissions(set),
  removePermissions: ofPermissions(remove),
} satisfies TableOf<KeyGrantOperations>;
