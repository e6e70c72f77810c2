import type { GrantReference, MissingGrants, PermissionRecord, RoleRecord } from "@latchkey/core";
import type { Reply } from "./replies.js";
import { damaged, text } from "./values.js";

type References<Definition> = readonly GrantReference<Definition>[];

/** A permission as it is kept beside its id. */
export function encodePermission({ name, description, createdAt }: PermissionRecord): string {
  return JSON.stringify({ name, description, createdAt });
}

/** A role as it is kept beside its id, after the line that names its permissions. */
export function encodeRole({ name, description, createdAt }: RoleRecord): string {
  return JSON.stringify({ name, description, createdAt });
}

/** Arguments that name roles: undefined leaves those that are. A role made on demand has no permissions. */
export function roleArguments(references: References<RoleRecord> | undefined): readonly string[] {
  return referenceArguments(references, (role) => `\n${encodeRole(role)}`);
}

/** Arguments that name permissions: undefined leaves those that are. */
export function permissionArguments(
  references: References<PermissionRecord> | undefined,
): readonly string[] {
  return referenceArguments(references, encodePermission);
}

/** Reads `{"MISSING", numbers of roles, numbers of permissions}`: each name or id once, in the order asked. */
export function readMissing(
  reply: Reply,
  roles: References<unknown> = [],
  permissions: References<unknown> = [],
): MissingGrants {
  return {
    kind: "missing-grants",
    roles: namesAt(text(reply[1]), roles),
    permissions: namesAt(text(reply[2]), permissions),
  };
}

function referenceArguments<Definition extends { readonly id: string }>(
  references: References<Definition> | undefined,
  encode: (definition: Definition) => string,
): readonly string[] {
  if (references === undefined) return ["-1"];
  return [
    String(references.length),
    ...references.flatMap((reference) => {
      if (reference.kind === "id") return ["id", reference.id, "", ""];
      const { name, orCreate } = reference;
      return orCreate === null
        ? ["name", name, "", ""]
        : ["name", name, orCreate.id, encode(orCreate)];
    }),
  ];
}

function namesAt(numbers: string, references: References<unknown>): readonly string[] {
  if (numbers === "") return [];
  const names = numbers.split(" ").map((number) => {
    const reference = references[Number(number)] ?? damaged();
    return reference.kind === "id" ? reference.id : reference.name;
  });
  return [...new Set(names)];
}
