import {
  type ChangeLog,
  corruptRecord,
  type KeyPatch,
  type Rotation,
  type UpdateKeyResult,
} from "@latchkey/core";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import { linkArguments } from "./identity-record.js";
import {
  hasConfiguration,
  LONGEST_SHORT_VALUE,
  patchedFields,
  successorFields,
} from "./key-fields.js";
import { identityCountersName, type KeyNames, keyWindowField } from "./key-names.js";
import { catalogKeys, keyKeys } from "./key-places.js";
import type { KeyQueries } from "./key-queries.js";
import { permissionArguments, readMissing, roleArguments } from "./references.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { changedUses, usageArguments, usageRefused } from "./uses.js";
import { text } from "./values.js";

/** Guarded changes of keys. */
export class Keys {
  readonly #connection: Connection;
  readonly #names: KeyNames;
  readonly #queries: KeyQueries;

  constructor(connection: Connection, names: KeyNames, queries: KeyQueries) {
    this.#connection = connection;
    this.#names = names;
    this.#queries = queries;
  }

  async update(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
    log: ChangeLog,
  ): Promise<UpdateKeyResult> {
    const place = await this.#queries.placeOf(workspaceId, keyId);
    if (place === null) return { kind: "not-found" };
    const names = this.#names.of(workspaceId);
    const { identity, grants } = patch;
    const [record, longFields, counters] = keyKeys(names, place);
    const keys = [
      record,
      longFields,
      names.identityKeyList,
      ...catalogKeys(names),
      names.apis,
      names.uses,
      counters,
      names.changes,
      names.changeList,
      ...(identity ? [identityCountersName(names, identity.id)] : []),
    ];
    const args = [
      ...[keyId, String(expectedVersion)],
      ...patchArguments(patch),
      ...logArguments(log),
    ];
    const reply = await this.#connection.run(SCRIPTS.updateKey, keys, args);
    switch (reply[0]) {
      case "UPDATED":
        return {
          kind: "updated",
          usage: changedUses(reply),
          created: reply.slice(3).map(text),
        };
      case "NOT_FOUND":
        return { kind: "not-found" };
      case "STALE":
        return { kind: "stale" };
      case "MISSING":
        return readMissing(reply, grants?.roles, grants?.permissions);
      case "CORRUPT":
        throw corruptKey(keyId);
      default:
        return usageRefused(reply);
    }
  }

  /** Two steps, as each that goes by the id of a key: where it is kept, and the change. */
  async rotate(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    { successor, expiresAt, updatedAt }: Rotation,
    log: ChangeLog,
  ): Promise<"rotated" | "not-found" | "stale" | "hash-taken"> {
    const place = await this.#queries.placeOf(workspaceId, keyId);
    if (place === null) return "not-found";
    const names = this.#names.of(workspaceId);
    const { hash, countersId } = successor;
    const [record, longFields] = keyKeys(names, place);
    const [newRecord, newLongFields, counters] = keyKeys(names, { hash, countersId });
    const keys = [
      ...[record, longFields, newRecord, newLongFields],
      names.keyHashes,
      names.apis,
      names.keyList,
      names.identityKeyList,
      names.uses,
      counters,
      names.changes,
      names.changeList,
    ];
    const fields = successorFields(successor);
    const args = [
      ...[keyId, String(expectedVersion)],
      ...[successor.id, hash, String(successor.version), countersId],
      ...[String(expiresAt), String(updatedAt)],
      String(LONGEST_SHORT_VALUE),
      successor.identityId ?? "",
      ...[String(fields.length / 2), ...fields],
      ...logArguments(log),
    ];
    const [status] = await this.#connection.run(SCRIPTS.rotateKey, keys, args);
    if (status === "ROTATED") return "rotated";
    if (status === "NOT_FOUND") return "not-found";
    if (status === "STALE") return "stale";
    if (status === "HASH_TAKEN") return "hash-taken";
    if (status === "CORRUPT") throw corruptKey(keyId);
    throw unexpected(status);
  }
}

/** From the third argument of update-key.lua up to its log. */
function patchArguments(patch: KeyPatch): readonly string[] {
  const { usage, identity, grants, ratelimits } = patch;
  const fields = patchedFields(patch);
  return [
    hasConfiguration(patch) ? "1" : "",
    ...usageArguments(usage),
    String(LONGEST_SHORT_VALUE),
    identity === undefined ? "keep" : identity === null ? "unlink" : "link",
    ...(identity ? linkArguments(identity) : ["", "", "", "", ""]),
    String(ratelimits?.length ?? -1),
    ...(ratelimits ?? []).map(keyWindowField),
    String(fields.length / 2),
    ...fields,
    ...roleArguments(grants?.roles),
    ...permissionArguments(grants?.permissions),
  ];
}

function corruptKey(keyId: string) {
  return corruptRecord(/^key_[A-Za-z0-9]{1,64}$/.test(keyId) ? `key ${keyId}` : "key");
}
