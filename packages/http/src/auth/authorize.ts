import {
  isRootAllowed,
  isRootPermission,
  type Latchkey,
  LatchkeyError,
  type RootPermission,
  rootPermissionName,
  type VerifyScope,
} from "@latchkey/core";
import type { Caller, RequiredPermissions, Subject } from "../operations/operation.js";

/**
 * Lets a caller through that holds all that is needed: for every resource of the kind, or for this one.
 *
 * Permission comes before existence. A caller whose permissions name single resources is refused alike for one
 * that is not among them and for one that does not exist; whoever may act on all gets through, and the operation
 * tells it what exists.
 *
 * @throws LatchkeyError `INSUFFICIENT_PERMISSIONS` naming all that is needed, whatever of it is held.
 */
export async function authorize(
  caller: Caller,
  requiredPermissions: RequiredPermissions,
): Promise<void> {
  for (const part of [requiredPermissions, ...(requiredPermissions.and ?? [])])
    if (!(await isAllowed(caller, part))) throw insufficient(requiredPermissions);
}

/**
 * Lets a caller through that holds what is needed at times, once the operation knows that it is.
 *
 * @param id - Of the resource that the record belongs to.
 * @throws LatchkeyError `INSUFFICIENT_PERMISSIONS`, in the words in which {@link authorize} refuses the same needs.
 */
export function authorizeConditional(
  { permissions }: Caller,
  requiredPermissions: RequiredPermissions,
  id: string,
): void {
  const needed = requiredPermissions.conditional?.permission;
  if (needed !== undefined && !isRootAllowed(permissions, ofResource(needed, id)))
    throw insufficient(requiredPermissions);
}

async function isAllowed(
  { latchkey, permissions }: Caller,
  requiredPermissions: RequiredPermissions,
): Promise<boolean> {
  const open = requiredPermissions.permissions.filter(
    (needed) => !isRootAllowed(permissions, needed),
  );
  if (open.length === 0) return true;
  const isHeldFor = (id: string) =>
    open.every((needed) => isRootAllowed(permissions, ofResource(needed, id)));
  if (requiredPermissions.subject.kind === "any-api")
    return apiIdsHeld(permissions, "verify_key").some(isHeldFor);
  const id = await subjectId(latchkey, requiredPermissions.subject);
  return id !== null && isHeldFor(id);
}

/** The APIs whose keys exist for a verifier: all, or those that its permissions name. */
export function verifyScope(permissions: readonly string[]): VerifyScope {
  const isForAll = isRootAllowed(permissions, { resource: "api", id: null, action: "verify_key" });
  return isForAll ? {} : { apiIds: apiIdsHeld(permissions, "verify_key") };
}

/** Ids of the APIs for which an action is held by name. */
function apiIdsHeld(permissions: readonly string[], action: string): string[] {
  return permissions.flatMap((permission) => {
    const [resource, id = "*", held] = isRootPermission(permission) ? permission.split(".") : [];
    return resource === "api" && id !== "*" && held === action ? [id] : [];
  });
}

/** The id that a narrower permission must name, or null where no such record exists. */
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
      return orNull(async () => (await latchkey.getKey({ keyId: subject.keyId })).apiId);
    case "secret":
      return orNull(async () => {
        const { id: keyId } = await latchkey.whoami({ key: subject.secret });
        return (await latchkey.getKey({ keyId })).apiId;
      });
    case "identity": {
      const { identityId, externalId } = subject;
      if (identityId !== undefined) return identityId;
      if (externalId === undefined) return null;
      return orNull(async () => (await latchkey.getIdentity({ externalId })).id);
    }
    default:
      return subject satisfies never;
  }
}

async function orNull(read: () => Promise<string>): Promise<string | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

function ofResource(needed: RootPermission, id: string): RootPermission {
  const hasIds = ID_FORMS[needed.resource] !== undefined;
  return hasIds ? ({ ...needed, id } as RootPermission) : needed;
}

/** What stands for the id in the narrower form of a permission, where it has one. */
const ID_FORMS: Readonly<Partial<Record<RootPermission["resource"], string>>> = {
  api: "apiId",
  identity: "identityId",
  ratelimit: "namespace",
};

/** Never the id itself: for a record that is found by another id it would tell that it exists. */
function insufficient(requiredPermissions: RequiredPermissions): LatchkeyError {
  const names = [requiredPermissions, ...(requiredPermissions.and ?? [])].flatMap(
    ({ permissions, subject }) => permissions.map((needed) => nameOf(needed, subject)),
  );
  const { conditional } = requiredPermissions;
  const more =
    conditional === undefined
      ? ""
      : `; ${conditional.when} ${nameOf(conditional.permission, requiredPermissions.subject)}`;
  return new LatchkeyError(
    "INSUFFICIENT_PERMISSIONS",
    `this needs ${[...new Set(names)].join(" and ")}${more}`,
  );
}

function nameOf(needed: RootPermission, subject: Subject): string {
  const { resource, action } = needed;
  const forAll = rootPermissionName(needed);
  const idForm = ID_FORMS[resource];
  if (subject.kind === "none" || idForm === undefined) return forAll;
  return `${forAll} (or ${resource}.<${idForm}>.${action})`;
}
