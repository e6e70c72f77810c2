import { type RootPermission, rootPermissionName } from "@latchkey/core";
import type { RequiredPermissions } from "../auth/required-permissions.js";
import type { Operation } from "../operations/operation.js";

/** Placeholders for the id in a permission for one resource. */
const ID_PLACEHOLDERS: Readonly<Record<string, string>> = {
  api: "<apiId>",
  identity: "<identityId>",
  ratelimit: "<namespace>",
};

/** A sentence in Markdown about the permissions that an operation requires, taken from its example. */
export function permissionsText({
  isPublic,
  requiredPermissions,
  example,
  input,
}: Operation): string {
  if (isPublic === true) return "Needs no root key.";
  const required = requiredPermissions(input.parse(example.input));
  if (required.permissions.length === 0) return "Needs any root key.";
  return `Needs ${permissionForms(required).join(", and ")}; \`*\` is enough for everything.`;
}

/** Each permission in Markdown, in all of its forms. */
export function permissionForms({ permissions, subject }: RequiredPermissions): readonly string[] {
  return permissions.map((permission) => {
    const placeholder = ID_PLACEHOLDERS[permission.resource];
    const forAll = `\`${rootPermissionName(permission)}\``;
    const hasForOne = subject.kind !== "none" && placeholder !== undefined;
    return hasForOne ? `${forAll} or \`${formForOne(permission, placeholder)}\`` : forAll;
  });
}

function formForOne({ resource, action }: RootPermission, placeholder: string): string {
  return `${resource}.${placeholder}.${action}`;
}
