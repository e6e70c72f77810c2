import type { ChangeLog, InsertKeysResult, NewKey } from "@latchkey/core";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import { linkArguments } from "./identity-record.js";
import { LONGEST_SHORT_VALUE, newKeyFields } from "./key-fields.js";
import {
  identityCountersName,
  type KeyNames,
  longFieldsName,
  recordName,
  type WorkspaceNames,
} from "./key-names.js";
import { catalogKeys } from "./key-places.js";
import { permissionArguments, readMissing, roleArguments, sharedReferences } from "./references.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { text, whole } from "./values.js";

/** Writes keys that are new, all of one call in one step. */
export class NewKeys {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async insert(newKeys: readonly NewKey[], log: ChangeLog): Promise<InsertKeysResult> {
    const names = this.#names.of(newKeys[0]?.key.workspaceId ?? "");
    const roles = sharedReferences(newKeys.map(({ grants }) => grants.roles));
    const permissions = sharedReferences(newKeys.map(({ grants }) => grants.permissions));
    const args = [
      String(LONGEST_SHORT_VALUE),
      ...roleArguments(roles.all),
      ...permissionArguments(permissions.all),
      String(newKeys.length),
      ...newKeys.flatMap((newKey, number) =>
        keyArguments(newKey, roles.numbers[number] ?? "", permissions.numbers[number] ?? ""),
      ),
      ...logArguments(log),
    ];
    const reply = await this.#connection.run(SCRIPTS.insertKeys, keysOf(names, newKeys), args);
    switch (reply[0]) {
      case "INSERTED":
        return { kind: "inserted", created: reply.slice(1).map(text) };
      case "NO_API":
        return { kind: "api-not-found", index: whole(reply[1]) };
      case "HASH_TAKEN":
        return { kind: "hash-taken", index: whole(reply[1]) };
      case "MISSING":
        return readMissing(reply, roles.all, permissions.all);
      default:
        throw unexpected(reply[0]);
    }
  }
}

/** In the order in which insert-keys.lua takes them. */
function keysOf(names: WorkspaceNames, newKeys: readonly NewKey[]): readonly string[] {
  return [
    names.keyHashes,
    names.apis,
    names.keyList,
    names.identityKeyList,
    ...catalogKeys(names),
    names.uses,
    names.changes,
    names.changeList,
    ...newKeys.flatMap(({ key: { hash }, identity }) => [
      recordName(names, hash),
      longFieldsName(names, hash),
      ...(identity === null ? [] : [identityCountersName(names, identity.id)]),
    ]),
  ];
}

function keyArguments(newKey: NewKey, roles: string, permissions: string): readonly string[] {
  const { key, identity } = newKey;
  const fields = newKeyFields(newKey);
  return [
    key.id,
    key.hash,
    key.apiId,
    String(key.version),
    ...(identity === null ? ["", key.identityId ?? "", "", "", ""] : linkArguments(identity)),
    roles,
    permissions,
    String(fields.length / 2),
    ...fields,
  ];
}
