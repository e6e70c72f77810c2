import { type RootPermission, rootPermissionName } from "@latchkey/core";
import type { Operation, RequiredPermissions } from "../operations/operation.js";

/** What stands for the id in the form of a permission for one resource. */
const ID_FORMS: Readonly<Record<string, string>> = {
  api: "<apiId>",
  identity: "<identityId>",
  ratelimit: "<namespace>",
};

/** What an operation's example needs, as a sentence in Markdown. */
export function permissionsText({
  isPublic,
  requiredPermissions,
  example,
  input,
}: Operation): string {
  if (isPublic === true) return "Needs no root key.";
  const { permissions, subject }: RequiredPermissions = requiredPermissions(
    input.parse(example.takes),
  );
  if (permissions.length === 0) return "Needs a root key, whatever it may do.";
  const forms = permissions.map((permission) => {
    const idForm = ID_FORMS[permission.resource];
    const forAll = `\`${rootPermissionName(permission)}\``;
    const hasNarrow = subject.kind !== "none" && idForm !== undefined;
    return hasNarrow ? `${forAll} or \`${narrowForm(permission, idForm)}\`` : forAll;
  });
  return `Needs ${forms.join(", and ")}; \`*\` is enough for everything.`;
}

function narrowForm({ resource, action }: RootPermission, idForm: string): string {
  return `${resource}.${idForm}.${action}`;
}
