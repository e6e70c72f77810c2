import {
  longFieldsName,
  recordName,
  sharedCountersName,
  type WorkspaceNames,
} from "./key-names.js";
import type { KeyPlace } from "./key-queries.js";

/** Names of a key's record, of its long fields and of the counters that it shares or would share. */
export function keyKeys(
  names: WorkspaceNames,
  { hash, countersId }: Pick<KeyPlace, "hash" | "countersId">,
): readonly [string, string, string] {
  return [
    recordName(names, hash),
    longFieldsName(names, hash),
    sharedCountersName(names, countersId),
  ];
}

/** What roles, permissions and identities are looked up in, in the order in which scripts take them. */
export function catalogKeys(names: WorkspaceNames): readonly string[] {
  return [
    names.roles,
    names.roleNames,
    names.permissions,
    names.permissionNames,
    names.identities,
    names.externalIds,
    names.identityList,
  ];
}
