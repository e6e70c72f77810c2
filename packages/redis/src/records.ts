import {
  effectivePermissions,
  type IdentityRecord,
  type KeyRateLimit,
  type KeyRecord,
  type LoadedKey,
  type Metadata,
  type RateLimit,
  untouchedWorkspace,
  type WorkspaceRecord,
} from "@latchkey/core";
import { asReply } from "./replies.js";
import {
  damaged,
  flag,
  json,
  list,
  nullable,
  object,
  optional,
  readStored,
  safe,
  text,
  whole,
} from "./values.js";

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
    const key = keyRecord(hash, workspace.id, fields);
    const identity = text(parts[2]);
    return {
      key,
      usage: usageOf(fields),
      workspace,
      identity:
        identity === "" || key.identityId === null
          ? null
          : identityRecord(workspace.id, key.identityId, identity),
      roles: list(parts[3], roleName).toSorted(),
      permissions: effectivePermissions(list(parts[4], permissionName), []),
      handle: hash,
    };
  });
}

/** @param enabled - "" where the workspace was never written; likewise the epoch. */
export function workspaceRecord(id: string, enabled: unknown, epoch: unknown): WorkspaceRecord {
  if (enabled === "" && epoch === "") return untouchedWorkspace(id);
  return readStored("workspace", id, () => ({ id, enabled: flag(enabled), epoch: whole(epoch) }));
}

/**
 * Reads the four lines of an identity: version, limits, metadata, the rest.
 *
 * @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written.
 */
export function identityRecord(workspaceId: string, id: string, stored: unknown): IdentityRecord {
  return readStored("identity", id, () => {
    const [version, limits, meta, rest, ...more] = text(stored).split("\n");
    const { externalId, createdAt } = object(json(rest));
    if (more.length > 0) damaged();
    return {
      id,
      workspaceId,
      externalId: text(externalId),
      meta: metadata(meta),
      ratelimits: list(json(limits), rateLimit),
      createdAt: safe(createdAt, 0),
      version: whole(version),
    };
  });
}

/** The opposite of {@link identityRecord}, line by line. */
export function encodeIdentity(identity: IdentityRecord): string {
  const { externalId, createdAt, version, meta, ratelimits } = identity;
  const rest = JSON.stringify({ externalId, createdAt });
  return [version, encodeLimits(ratelimits), JSON.stringify(meta), rest].join("\n");
}

/** Limits of an identity, as short as they can be. */
export function encodeLimits(limits: readonly RateLimit[]): string {
  return JSON.stringify(limits.map(({ name, limit, durationMs }) => [name, limit, durationMs]));
}

function fieldsOf(flatLists: readonly unknown[]): Fields {
  const fields = new Map<string, string>();
  for (const flat of flatLists) {
    const items = asReply(flat);
    for (let at = 0; at < items.length; at += 2) fields.set(text(items[at]), text(items[at + 1]));
  }
  return fields;
}

function usageOf(fields: Fields) {
  return {
    remaining: optional(fields.get("remaining"), whole),
    refilledAt: whole(fields.get("refilledAt")),
  };
}

function keyRecord(hash: string, workspaceId: string, fields: Fields): KeyRecord {
  const [id, version, ...more] = text(fields.get("stamp")).split(" ");
  if (more.length > 0) damaged();
  return {
    id: text(id),
    workspaceId,
    apiId: text(fields.get("api")),
    hash,
    start: text(fields.get("start")),
    name: optional(fields.get("name"), text),
    identityId: optional(fields.get("identity"), text),
    meta: optional(fields.get("meta"), metadata),
    createdAt: whole(fields.get("createdAt")),
    updatedAt: optional(fields.get("updatedAt"), whole),
    expiresAt: optional(fields.get("expiresAt"), whole),
    switchedOn: flag(fields.get("on")),
    refill: optional(fields.get("refill"), refillOf),
    ratelimits: optional(fields.get("limits"), (value) => list(json(value), keyRateLimit)) ?? [],
    environment: optional(fields.get("environment"), text),
    sealedSecret: optional(fields.get("sealed"), text),
    version: whole(version),
  };
}

function metadata(value: unknown): Metadata {
  return object(json(value)) as Metadata;
}

function refillOf(value: string): KeyRecord["refill"] {
  const [interval, amount, day, ...more] = list(json(value), (part) => part);
  if (more.length > 0) return damaged();
  if (interval === "daily" && day === undefined) return { interval, amount: safe(amount, 1) };
  if (interval !== "monthly" || safe(day, 1) > 31) return damaged();
  return { interval, amount: safe(amount, 1), refillDay: safe(day, 1) };
}

function rateLimit(value: unknown): RateLimit {
  const [name, limit, durationMs, ...more] = list(value, (part) => part);
  if (more.length > 0) return damaged();
  return { name: text(name), limit: safe(limit, 1), durationMs: safe(durationMs, 1) };
}

function keyRateLimit(value: unknown): KeyRateLimit {
  const parts = list(value, (part) => part);
  const [type, isAsync, ...more] = parts.slice(3);
  if (more.length > 0 || typeof isAsync !== "boolean") return damaged();
  const known = nullable(type, text);
  if (known !== null && known !== "fast" && known !== "consistent") return damaged();
  return { ...rateLimit(parts.slice(0, 3)), type: known, async: isAsync };
}

function roleName(value: unknown): string {
  const role = text(value);
  return text(object(json(role.slice(role.indexOf("\n") + 1))).name);
}

function permissionName(value: unknown): string {
  return text(object(json(value)).name);
}
