import {
  effectivePermissions,
  type KeyRecord,
  type LoadedKey,
  type WorkspaceRecord,
} from "@latchkey/core";
import { apiRecord } from "./api-record.js";
import { namedPermissions, namedRoles } from "./grant-records.js";
import { loadedIdentity } from "./identity-record.js";
import { keyLimits, refillOf } from "./limits.js";
import { asReply } from "./replies.js";
import { usesOf } from "./uses.js";
import { damaged, flag, metadata, optional, readStored, text, whole } from "./values.js";

/** Fields of a key as they are in Redis. Those without a value are absent. */
type Fields = ReadonlyMap<string, string>;

/**
 * Reads one entry of what load-keys.lua answers; null where there is no such key.
 *
 * @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written.
 */
export function loadedKey(
  hash: string,
  workspace: WorkspaceRecord,
  entry: unknown,
): LoadedKey | null {
  const parts = asReply(entry);
  if (parts.length === 0) return null;
  const fields = readStored("key", null, () => fieldsOf([parts[0], parts[1]]));
  return readStored("key", fields.get("stamp")?.split(" ")[0], () => {
    const [api, identity, identityUses, sharedUses, usedAt] = parts.slice(2);
    const identityId = fields.get("identity");
    // A key goes on naming an identity that was deleted.
    const loaded =
      identity === "" ? null : loadedIdentity(workspace.id, [identityId, identity, identityUses]);
    const key = keyRecord(hash, workspace.id, fields, loaded?.identity.id ?? null);
    return {
      key,
      usage: key.countersId === null ? ownUses(fields) : usesOf(sharedUses),
      workspace,
      api: apiRecord(workspace.id, key.apiId, api),
      identity: loaded?.identity ?? null,
      identityUsage: loaded?.usage ?? null,
      ...grantsOf(parts.slice(7)),
      lastUsedAt: usedAt === "" ? null : whole(usedAt),
      handle: hash,
    };
  });
}

function grantsOf([held, given, inherited]: readonly unknown[]): Pick<
  LoadedKey,
  "direct" | "roles" | "permissions"
> {
  const direct = { roles: namedRoles(held), permissions: namedPermissions(given) };
  const names = [...direct.permissions, ...namedPermissions(inherited)].map(({ name }) => name);
  return {
    direct,
    roles: direct.roles.map(({ name }) => name),
    permissions: effectivePermissions(names, []),
  };
}

function fieldsOf(flatLists: readonly unknown[]): Fields {
  const fields = new Map<string, string>();
  for (const flat of flatLists) {
    const items = asReply(flat);
    for (let at = 0; at < items.length; at += 2) fields.set(text(items[at]), text(items[at + 1]));
  }
  return fields;
}

function ownUses(fields: Fields): LoadedKey["usage"] {
  return {
    remaining: optional(fields.get("remaining"), whole),
    refilledAt: whole(fields.get("refilledAt")),
  };
}

function keyRecord(
  hash: string,
  workspaceId: string,
  fields: Fields,
  identityId: string | null,
): KeyRecord {
  const [id, version, ...more] = text(fields.get("stamp")).split(" ");
  if (more.length > 0) damaged();
  return {
    id: text(id),
    workspaceId,
    apiId: text(fields.get("api")),
    hash,
    start: text(fields.get("start")),
    name: optional(fields.get("name"), text),
    identityId,
    meta: optional(fields.get("meta"), metadata),
    createdAt: whole(fields.get("createdAt")),
    updatedAt: optional(fields.get("updatedAt"), whole),
    expiresAt: optional(fields.get("expiresAt"), whole),
    switchedOn: flag(fields.get("on")),
    refill: optional(fields.get("refill"), refillOf),
    ratelimits: optional(fields.get("limits"), keyLimits) ?? [],
    environment: optional(fields.get("environment"), text),
    usesFrom: usesOwner(fields.get("usesFrom")),
    rotatedFrom: optional(fields.get("rotatedFrom"), text),
    rotatedTo: optional(fields.get("rotatedTo"), text),
    countersId: optional(fields.get("counters"), text),
    sealedSecret: optional(fields.get("sealed"), text),
    version: whole(version),
  };
}

function usesOwner(value: string | undefined): KeyRecord["usesFrom"] {
  if (value === undefined) return "key";
  return value === "identity" ? value : damaged();
}
