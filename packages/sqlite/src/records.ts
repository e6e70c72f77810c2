import {
  effectivePermissions,
  type IdentityRecord,
  type KeyRateLimit,
  type KeyRecord,
  type LoadedKey,
  type Metadata,
  type RateLimit,
  type RootKeyRecord,
  untouchedWorkspace,
  type WorkspaceRecord,
} from "@latchkey/core";
import type { RawRow } from "./database.js";
import { damaged, flag, json, list, nullable, object, readStored, text, whole } from "./values.js";

/** Columns of a key, of its workspace and of its identity, in the order that {@link loadedKey} reads. */
export const LOADED_KEY_COLUMNS = `
  k.id, k.workspace_id, k.api_id, k.hash, k.start, k.name, k.identity_id, k.meta, k.created_at,
  k.updated_at, k.expires_at, k.switched_on, k.refill_interval, k.refill_amount, k.refill_day,
  k.ratelimits, k.environment, k.sealed_secret, k.version, u.remaining, u.refilled_at,
  (SELECT json_group_array(r.name) FROM latchkey_key_role kr
    JOIN latchkey_role r ON r.seq = kr.role_seq AND r.workspace_id = k.workspace_id
    WHERE kr.key_seq = k.seq),
  (SELECT json_group_array(p.name) FROM latchkey_key_permission kp
    JOIN latchkey_permission p ON p.seq = kp.permission_seq AND p.workspace_id = k.workspace_id
    WHERE kp.key_seq = k.seq),
  (SELECT json_group_array(p.name) FROM latchkey_key_role kr
    JOIN latchkey_role_permission rp ON rp.role_seq = kr.role_seq
    JOIN latchkey_permission p ON p.seq = rp.permission_seq AND p.workspace_id = k.workspace_id
    WHERE kr.key_seq = k.seq),
  w.enabled, w.epoch,
  i.id, i.workspace_id, i.external_id, i.meta, i.ratelimits, i.created_at, i.version`;

/** Where {@link LOADED_KEY_COLUMNS} come from. An identity of another workspace is none. */
export const LOADED_KEY_SOURCE = `
  latchkey_key k
  LEFT JOIN latchkey_usage u ON u.key_seq = k.seq
  LEFT JOIN latchkey_workspace w ON w.id = k.workspace_id
  LEFT JOIN latchkey_identity i ON i.id = k.identity_id AND i.workspace_id = k.workspace_id`;

/** Which rows of `latchkey_key k` are keys: neither deleted themselves, nor of an API that was. */
export const IS_LIVE_KEY = `k.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM latchkey_api a WHERE a.id = k.api_id AND a.is_live = 1)`;

/** Columns of an identity, in the order that {@link identityRecord} reads. */
export const IDENTITY_COLUMNS =
  "id, workspace_id, external_id, meta, ratelimits, created_at, version";

const KEY_WIDTH = 21;
const IDENTITY_START = KEY_WIDTH + 5;

/** @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written. */
export function loadedKey(row: RawRow): LoadedKey {
  return readStored("key", row[0], () => ({
    key: keyRecord(row),
    usage: { remaining: nullable(row[19], whole), refilledAt: whole(row[20]) },
    workspace: workspaceRecord(text(row[1]), row.slice(KEY_WIDTH + 3, IDENTITY_START)),
    identity: row[IDENTITY_START] === null ? null : identityRecord(row.slice(IDENTITY_START)),
    roles: [...list(json(row[KEY_WIDTH]), text)].sort(),
    permissions: effectivePermissions(list(json(row[KEY_WIDTH + 1]), text), [
      list(json(row[KEY_WIDTH + 2]), text),
    ]),
  }));
}

/** @param row - The columns `enabled` and `epoch`, or nothing where the workspace was never written. */
export function workspaceRecord(id: string, row: RawRow | undefined): WorkspaceRecord {
  if (row === undefined || row[1] === null) return untouchedWorkspace(id);
  return readStored("workspace", id, () => ({ id, enabled: flag(row[0]), epoch: whole(row[1]) }));
}

/** @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written. */
export function identityRecord(row: RawRow): IdentityRecord {
  return readStored("identity", row[0], () => ({
    id: text(row[0]),
    workspaceId: text(row[1]),
    externalId: text(row[2]),
    meta: metadata(row[3]),
    ratelimits: list(json(row[4]), rateLimit),
    createdAt: whole(row[5]),
    version: whole(row[6]),
  }));
}

/** @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written. */
export function rootKeyRecord(row: RawRow): RootKeyRecord {
  return readStored("root key", row[0], () => ({
    id: text(row[0]),
    workspaceId: text(row[1]),
    hash: text(row[2]),
    start: text(row[3]),
    name: nullable(row[4], text),
    permissions: list(json(row[5]), text),
    expiresAt: nullable(row[6], whole),
    switchedOn: flag(row[7]),
    createdAt: whole(row[8]),
  }));
}

function keyRecord(row: RawRow): KeyRecord {
  return {
    id: text(row[0]),
    workspaceId: text(row[1]),
    apiId: text(row[2]),
    hash: text(row[3]),
    start: text(row[4]),
    name: nullable(row[5], text),
    identityId: nullable(row[6], text),
    meta: nullable(row[7], metadata),
    createdAt: whole(row[8]),
    updatedAt: nullable(row[9], whole),
    expiresAt: nullable(row[10], whole),
    switchedOn: flag(row[11]),
    refill: refillOf(row[12], row[13], row[14]),
    ratelimits: list(json(row[15]), keyRateLimit),
    environment: nullable(row[16], text),
    sealedSecret: nullable(row[17], text),
    version: whole(row[18]),
  };
}

function refillOf(interval: unknown, amount: unknown, day: unknown): KeyRecord["refill"] {
  if (interval === null) return amount === null && day === null ? null : damaged();
  if (interval === "daily") return { interval, amount: whole(amount, 1) };
  if (interval !== "monthly" || whole(day, 1) > 31) return damaged();
  return { interval, amount: whole(amount, 1), refillDay: whole(day, 1) };
}

function metadata(value: unknown): Metadata {
  return object(json(value)) as Metadata;
}

function rateLimit(value: unknown): RateLimit {
  const { name, limit, durationMs } = object(value);
  return { name: text(name), limit: whole(limit, 1), durationMs: whole(durationMs, 1) };
}

function keyRateLimit(value: unknown): KeyRateLimit {
  const { type, async: isAsync } = object(value);
  if (type !== null && type !== "fast" && type !== "consistent") return damaged();
  if (typeof isAsync !== "boolean") return damaged();
  return { ...rateLimit(value), type, async: isAsync };
}
