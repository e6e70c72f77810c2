import {
  corruptRecord,
  type IdentityRecord,
  type InsertKeyResult,
  type KeyPatch,
  type NewKey,
  type UpdateKeyResult,
} from "@latchkey/core";
import type { Connection } from "./connection.js";
import {
  hasConfiguration,
  LONGEST_SHORT_VALUE,
  newKeyFields,
  patchedFields,
} from "./key-fields.js";
import {
  digest,
  identityCountersName,
  type KeyNames,
  keyWindowField,
  longFieldsName,
  recordName,
  type WorkspaceNames,
} from "./key-names.js";
import type { KeyQueries } from "./key-queries.js";
import { encodeIdentity } from "./records.js";
import { permissionArguments, readMissing, roleArguments } from "./references.js";
import { type Reply, unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { whole } from "./values.js";

/** Writes of keys. */
export class Keys {
  readonly #connection: Connection;
  readonly #names: KeyNames;
  readonly #queries: KeyQueries;

  constructor(connection: Connection, names: KeyNames, queries: KeyQueries) {
    this.#connection = connection;
    this.#names = names;
    this.#queries = queries;
  }

  async insert(newKey: NewKey): Promise<InsertKeyResult> {
    const { key, identity, grants } = newKey;
    const names = this.#names.of(key.workspaceId);
    const fields = newKeyFields(newKey);
    const keys = [
      recordName(names, key.hash),
      longFieldsName(names, key.hash),
      names.keyHashes,
      names.apis,
      names.keyList,
      names.identityKeyList,
      ...catalogsOf(names),
      ...identityKeysOf(names, identity),
    ];
    const args = [
      key.id,
      key.hash,
      key.apiId,
      ...(identity === null ? ["", key.identityId ?? "", "", ""] : identityArguments(identity)),
      String(LONGEST_SHORT_VALUE),
      String(key.version),
      String(fields.length / 2),
      ...fields,
      ...roleArguments(grants.roles ?? []),
      ...permissionArguments(grants.permissions ?? []),
    ];
    const reply = await this.#connection.run(SCRIPTS.insertKey, keys, args);
    switch (reply[0]) {
      case "INSERTED":
        return { kind: "inserted" };
      case "NO_API":
        return { kind: "api-not-found" };
      case "HASH_TAKEN":
        return { kind: "hash-taken" };
      case "MISSING":
        return readMissing(reply, grants.roles, grants.permissions);
      default:
        throw unexpected(reply[0]);
    }
  }

  async update(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
  ): Promise<UpdateKeyResult> {
    const hash = await this.#queries.hashOf(workspaceId, keyId);
    if (hash === null) return { kind: "not-found" };
    const names = this.#names.of(workspaceId);
    const { identity, grants, ratelimits } = patch;
    const fields = patchedFields(patch);
    const keys = [
      recordName(names, hash),
      longFieldsName(names, hash),
      names.identityKeyList,
      ...catalogsOf(names),
      names.apis,
      ...identityKeysOf(names, identity ?? null),
    ];
    const args = [
      keyId,
      String(expectedVersion),
      hasConfiguration(patch) ? "1" : "",
      ...usageArguments(patch.usage),
      String(LONGEST_SHORT_VALUE),
      identity === undefined ? "keep" : identity === null ? "unlink" : "link",
      ...(identity ? identityArguments(identity) : ["", "", "", ""]),
      ratelimits === undefined ? "" : "1",
      String(ratelimits?.length ?? 0),
      ...(ratelimits ?? []).map(keyWindowField),
      String(fields.length / 2),
      ...fields,
      ...roleArguments(grants?.roles),
      ...permissionArguments(grants?.permissions),
    ];
    const reply = await this.#connection.run(SCRIPTS.updateKey, keys, args);
    return reply[0] === "MISSING"
      ? readMissing(reply, grants?.roles, grants?.permissions)
      : updateResult(keyId, reply);
  }

  async delete(workspaceId: string, keyId: string): Promise<"deleted" | "not-found"> {
    const hash = await this.#queries.hashOf(workspaceId, keyId);
    if (hash === null) return "not-found";
    const names = this.#names.of(workspaceId);
    const keys = [
      recordName(names, hash),
      longFieldsName(names, hash),
      names.keyHashes,
      names.keyList,
      names.identityKeyList,
      names.apis,
    ];
    const [status] = await this.#connection.run(SCRIPTS.deleteKey, keys, [keyId]);
    if (status === "DELETED") return "deleted";
    if (status === "NOT_FOUND") return "not-found";
    throw unexpected(status);
  }

  /**
   * Deletes the first keys of an API. Two steps: which keys, then all of them in one; racers share them out between them.
   */
  async deleteSome(
    workspaceId: string,
    apiId: string,
    limit: number,
  ): Promise<{ readonly deleted: number; readonly hasMore: boolean }> {
    const names = this.#names.of(workspaceId);
    const listed = await this.#queries.deletable(workspaceId, apiId, limit + 1);
    const chosen = listed.slice(0, limit);
    if (chosen.length === 0) return { deleted: 0, hasMore: false };
    const keys = [
      names.keyHashes,
      names.keyList,
      names.identityKeyList,
      ...chosen.flatMap(({ hash }) => [recordName(names, hash), longFieldsName(names, hash)]),
    ];
    const args = [apiId, ...chosen.map(({ id }) => id)];
    const [status, deleted] = await this.#connection.run(SCRIPTS.deleteKeys, keys, args);
    if (status !== "OK") throw unexpected(status);
    return { deleted: whole(deleted), hasMore: listed.length > limit };
  }
}

/** What roles, permissions and identities are looked up in, in the order in which scripts take them. */
function catalogsOf(names: WorkspaceNames): readonly string[] {
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

function identityKeysOf(names: WorkspaceNames, identity: IdentityRecord | null): readonly string[] {
  return identity === null ? [] : [identityCountersName(names, identity.id)];
}

function identityArguments(identity: IdentityRecord): readonly string[] {
  const { id, externalId, version } = identity;
  return [digest(externalId), id, encodeIdentity(identity), String(version)];
}

function usageArguments(change: KeyPatch["usage"]): readonly string[] {
  if (change === undefined) return ["", "", "", "", ""];
  const { operation, due, settledAt } = change;
  const number =
    operation.kind === "keep"
      ? null
      : operation.kind === "set"
        ? operation.remaining
        : operation.by;
  return [
    operation.kind,
    number === null ? "" : String(number),
    due === null ? "" : String(due.amount),
    due === null ? "" : String(due.dueAt),
    String(settledAt),
  ];
}

function updateResult(keyId: string, reply: Reply): UpdateKeyResult {
  const [status, left, settled] = reply;
  switch (status) {
    case "UPDATED": {
      const remaining = left === "" ? null : whole(left);
      return { kind: "updated", usage: { remaining, refilledAt: whole(settled) } };
    }
    case "NOT_FOUND":
      return { kind: "not-found" };
    case "STALE":
      return { kind: "stale" };
    case "UNLIMITED":
      return { kind: "usage-refused", reason: { kind: "unlimited" } };
    case "INSUFFICIENT":
      return { kind: "usage-refused", reason: { kind: "insufficient", remaining: whole(left) } };
    case "OVERFLOW":
      return { kind: "usage-refused", reason: { kind: "overflow", remaining: whole(left) } };
    case "CORRUPT":
      throw corruptRecord(/^key_[A-Za-z0-9]{1,64}$/.test(keyId) ? `key ${keyId}` : "key");
    default:
      throw unexpected(status);
  }
}
