import {
  isRootAllowed,
  type Latchkey,
  LatchkeyError,
  type RootPermission,
  rootPermissionName,
} from "@latchkey/core";
import type { Caller } from "./callers.js";
import { apiScope, canActOn } from "./held-permissions.js";
import { findIdentityId } from "./identity-id.js";
import type { RequiredPermissions, Subject } from "./required-permissions.js";

/**
 * Checks that a caller holds every required permission, for all resources of its kind or for this one.
 *
 * Permission is checked before existence. A caller whose permissions name single resources gets the same refusal for a resource
 * that is not among them and for one that does not exist. A caller with permissions for all resources passes, and the
 * operation reports what does not exist.
 *
 * @param ifUnknown - Called if the resource is unknown, and the caller has the permission for others. Default: refuses.
 * @throws LatchkeyError `INSUFFICIENT_PERMISSIONS` naming everything that is required, never what the caller holds.
 */
export async function authorize(
  caller: Caller,
  required: RequiredPermissions,
  ifUnknown: (refusal: LatchkeyError) => void = (refusal) => {
    throw refusal;
  },
): Promise<void> {
  for (const part of [required, ...(required.and ?? [])]) {
    const allowed = await isAllowed(caller, part);
    if (allowed === "unknown") ifUnknown(insufficient(required));
    else if (!allowed) throw insufficient(required);
  }
}

/**
 * Checks the conditional permission, for an operation that has found out that its condition is true.
 *
 * @param id - Id of the resource that the record belongs to.
 * @throws LatchkeyError `INSUFFICIENT_PERMISSIONS`, with the same message as {@link authorize}.
 */
export function authorizeConditional(
  { permissions }: Caller,
  required: RequiredPermissions,
  id: string,
): void {
  const permission = required.conditional?.permission;
  if (permission !== undefined && !isRootAllowed(permissions, withId(permission, id)))
    throw insufficient(required);
}

async function isAllowed(
  { latchkey, permissions }: Caller,
  required: RequiredPermissions,
): Promise<boolean | "unknown"> {
  const missing = required.permissions.filter((needed) => !isRootAllowed(permissions, needed));
  if (missing.length === 0) return true;
  const isHeldFor = (id: string) =>
    missing.every((needed) => isRootAllowed(permissions, withId(needed, id)));
  if (required.subject.kind === "any-api")
    return missing.every(
      ({ resource, action }) =>
        resource === "api" && canActOn(apiScope(permissions, action), undefined),
    );
  const id = await subjectId(latchkey, required.subject);
  if (id !== null) return isHeldFor(id);
  return missing.every((needed) => isHeldForAny(permissions, needed)) && "unknown";
}

/** Whether a permission is held for at least one resource. */
function isHeldForAny(permissions: readonly string[], needed: RootPermission): boolean {
  return permissions.some((held) => {
    const [resource, , action] = held.split(".");
    return resource === needed.resource && action === needed.action;
  });
}

/** The id that a permission for one resource must name; null if there is no such record, or it cannot be read. */
async function subjectId(latchkey: Latchkey, subject: Subject): Promise<string | null> {
  switch (subject.kind) {
    case "none":
    case "any-api":
      return null;
    case "api":
      return subject.apiId;
    case "namespace":
      return subject.namespace;
    case "key":
      return latchkey.findApiOfKey({ keyId: subject.keyId });
    case "secret":
      return nullIfUnknown(async () => {
        const { id: keyId } = await latchkey.whoami({ key: subject.secret });
        return latchkey.findApiOfKey({ keyId });
      });
    case "identity": {
      const { identityId, externalId } = subject;
      if (identityId !== undefined) return identityId;
      if (externalId === undefined) return null;
      return nullIfUnknown(async () => (await latchkey.getIdentity({ externalId })).id);
    }
    case "identity-by-any-id":
      return nullIfUnknown(() => findIdentityId(latchkey, subject.anyId));
    default:
      return subject satisfies never;
  }
}

/** A damaged record is treated like a missing one, because its owner is unknown. */
async function nullIfUnknown(read: () => Promise<string | null>): Promise<string | null> {
  try {
    return await read();
  } catch (error) {
    const isUnknown = ["NOT_FOUND", "STORE_CORRUPT"].includes((error as LatchkeyError).code);
    if (error instanceof LatchkeyError && isUnknown) return null;
    throw error;
  }
}

function withId(permission: RootPermission, id: string): RootPermission {
  const hasIds = ID_NAMES[permission.resource] !== undefined;
  return hasIds ? ({ ...permission, id } as RootPermission) : permission;
}

/** Name of the id in a permission for one resource, for the kinds of resource that have such a form. */
const ID_NAMES: Readonly<Partial<Record<RootPermission["resource"], string>>> = {
  api: "apiId",
  identity: "identityId",
  ratelimit: "namespace",
};

/** The refusal. It names forms, never the id itself: if the record was found by another id, that would reveal that it exists. */
export function insufficient(required: RequiredPermissions): LatchkeyError {
  const names = [required, ...(required.and ?? [])].flatMap(({ permissions, subject }) =>
    permissions.map((permission) => formsOf(permission, subject)),
  );
  const { conditional } = required;
  const more =
    conditional === undefined
      ? ""
      : `; ${conditional.when} ${formsOf(conditional.permission, required.subject)}`;
  return new LatchkeyError(
    "INSUFFICIENT_PERMISSIONS",
    `this needs ${[...new Set(names)].join(" and ")}${more}`,
  );
}

function formsOf(permission: RootPermission, subject: Subject): string {
  const { resource, action } = permission;
  const forAll = rootPermissionName(permission);
  const idName = ID_NAMES[resource];
  if (subject.kind === "none" || idName === undefined) return forAll;
  return `${forAll} (or ${resource}.<${idName}>.${action})`;
}
