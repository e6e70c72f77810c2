import {
  effectivePermissions,
  type KeyRecord,
  type LoadedKey,
  type NamedGrant,
} from "@latchkey/core";
import type { RawRow } from "./database.js";
import { decodeKeyLimits } from "./limits.js";
import { NAMED_PERMISSIONS, NAMED_ROLES, namedGrants } from "./named-grants.js";
import {
  API_COLUMNS,
  API_WIDTH,
  apiRecord,
  IDENTITY_COLUMNS,
  loadedIdentity,
  metadata,
  WORKSPACE_COLUMNS,
  WORKSPACE_WIDTH,
  workspaceRecord,
} from "./records.js";
import { refillOf } from "./refill.js";
import { damaged, flag, json, list, nullable, readStored, text, whole } from "./values.js";

const KEY_COLUMNS = `
  k.id, k.workspace_id, k.api_id, k.hash, k.start, k.name, k.identity_id, k.meta, k.created_at,
  k.updated_at, k.expires_at, k.switched_on, k.refill_interval, k.refill_amount, k.refill_day,
  k.ratelimits, k.environment, k.uses_from, k.rotated_from, k.rotated_to, k.counters_id,
  k.sealed_secret, k.version`;
const KEY_WIDTH = 23;

const USAGE_START = KEY_WIDTH;
const GRANTS_START = USAGE_START + 3;
const WORKSPACE_START = GRANTS_START + 3;
const API_START = WORKSPACE_START + WORKSPACE_WIDTH;
const IDENTITY_START = API_START + API_WIDTH;

/** All that {@link loadedKey} reads, in its order. Roles and permissions that were deleted are passed over. */
export const LOADED_KEY_COLUMNS = `${KEY_COLUMNS}, u.remaining, u.refilled_at, l.used_at,
  (SELECT ${NAMED_ROLES} FROM latchkey_key_role kr
    JOIN latchkey_role r ON r.seq = kr.role_seq AND r.workspace_id = k.workspace_id
      AND r.is_live = 1
    WHERE kr.key_seq = k.seq),
  (SELECT ${NAMED_PERMISSIONS} FROM latchkey_key_permission kp
    JOIN latchkey_permission p ON p.seq = kp.permission_seq AND p.workspace_id = k.workspace_id
      AND p.is_live = 1
    WHERE kp.key_seq = k.seq),
  (SELECT json_group_array(p.name) FROM latchkey_key_role kr
    JOIN latchkey_role r ON r.seq = kr.role_seq AND r.is_live = 1
    JOIN latchkey_role_permission rp ON rp.role_seq = kr.role_seq
    JOIN latchkey_permission p ON p.seq = rp.permission_seq AND p.workspace_id = k.workspace_id
      AND p.is_live = 1
    WHERE kr.key_seq = k.seq),
  ${WORKSPACE_COLUMNS}, ${API_COLUMNS}, ${IDENTITY_COLUMNS}`;

/**
 * Where {@link LOADED_KEY_COLUMNS} come from: never a key of an API that was deleted. An identity of another
 * workspace is none. CROSS JOIN lets SQLite find the key first, and then its API.
 */
export const LOADED_KEY_SOURCE = `
  latchkey_key k
  CROSS JOIN latchkey_api a ON a.id = k.api_id AND a.is_live = 1
  LEFT JOIN latchkey_counters u ON u.seq = k.counters_seq
  LEFT JOIN latchkey_last_use l ON l.key_seq = k.seq
  LEFT JOIN latchkey_workspace w ON w.id = k.workspace_id
  LEFT JOIN latchkey_identity i ON i.id = k.identity_id AND i.workspace_id = k.workspace_id
  LEFT JOIN latchkey_counters iu ON iu.seq = i.counters_seq`;

/** Which rows of `latchkey_key k` are keys: neither deleted themselves, nor of an API that was. */
export const IS_LIVE_KEY = `k.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM latchkey_api a WHERE a.id = k.api_id AND a.is_live = 1)`;

/** @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written. */
export function loadedKey(row: RawRow): LoadedKey {
  return readStored("key", row[0], () => {
    const identity = row[IDENTITY_START] === null ? null : loadedIdentity(row, IDENTITY_START);
    const direct = {
      roles: namedGrants(row[GRANTS_START]),
      permissions: namedGrants(row[GRANTS_START + 1]),
    };
    return {
      key: keyRecord(row),
      usage: {
        remaining: nullable(row[USAGE_START], whole),
        refilledAt: whole(row[USAGE_START + 1]),
      },
      workspace: workspaceRecord(text(row[1]), row, WORKSPACE_START),
      api: apiRecord(row, API_START),
      identity: identity === null ? null : identity.identity,
      identityUsage: identity === null ? null : identity.usage,
      direct,
      roles: direct.roles.map(nameOf),
      permissions: effectivePermissions(direct.permissions.map(nameOf), [
        list(json(row[GRANTS_START + 2]), text),
      ]),
      lastUsedAt: nullable(row[USAGE_START + 2], whole),
    };
  });
}

function nameOf({ name }: NamedGrant): string {
  return name;
}

function keyRecord(row: RawRow): KeyRecord {
  const usesFrom = row[17];
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
    ratelimits: decodeKeyLimits(row[15]),
    environment: nullable(row[16], text),
    usesFrom: usesFrom === "key" || usesFrom === "identity" ? usesFrom : damaged(),
    rotatedFrom: nullable(row[18], text),
    rotatedTo: nullable(row[19], text),
    countersId: nullable(row[20], text),
    sealedSecret: nullable(row[21], text),
    version: whole(row[22]),
  };
}
