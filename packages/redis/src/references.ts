import type { GrantReference, MissingGrants, PermissionRecord, RoleRecord } from "@latchkey/core";
import { encodePermission, encodeRole } from "./grant-records.js";
import type { Reply } from "./replies.js";
import { damaged, text } from "./values.js";

type References<Definition> = readonly GrantReference<Definition>[];

/** Arguments that name roles: undefined leaves those that are. A role made on demand has no permissions. */
export function roleArguments(references: References<RoleRecord> | undefined): readonly string[] {
  return referenceArguments(references, (role) => `${role.version}\n\n${encodeRole(role)}`);
}

/** Arguments that name permissions: undefined leaves those that are. */
export function permissionArguments(
  references: References<PermissionRecord> | undefined,
): readonly string[] {
  return referenceArguments(references, encodePermission);
}

/** References of several keys, each once, and for each key which of them are its own, as insert-keys.lua takes them. */
export function sharedReferences<Definition>(
  lists: readonly (References<Definition> | undefined)[],
): { readonly all: References<Definition>; readonly numbers: readonly string[] } {
  const numberOf = new Map<string, number>();
  const all: GrantReference<Definition>[] = [];
  const numbers = lists.map((references = []) =>
    references
      .map((reference) => {
        const name = nameOf(reference);
        const known = numberOf.get(name);
        if (known !== undefined) return known;
        numberOf.set(name, all.length);
        return all.push(reference) - 1;
      })
      .join(" "),
  );
  return { all, numbers };
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

/** What tells references apart: one that may create what it names is another than one that may not. */
function nameOf(reference: GrantReference<unknown>): string {
  if (reference.kind === "id") return `id ${reference.id}`;
  return `${reference.orCreate === null ? "name" : "create"} ${reference.name}`;
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
