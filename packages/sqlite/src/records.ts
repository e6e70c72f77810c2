import {
  type ApiRecord,
  type LoadedIdentity,
  type Metadata,
  type RootKeyRecord,
  untouchedWorkspace,
  type WorkspaceRecord,
} from "@latchkey/core";
import type { RawRow } from "./database.js";
import { decodeIdentityLimits } from "./limits.js";
import { refillOf } from "./refill.js";
import { flag, json, list, nullable, object, readStored, text, whole } from "./values.js";

/** Columns of a workspace, in the order that {@link workspaceRecord} reads. */
export const WORKSPACE_COLUMNS = "w.name, w.enabled, w.epoch";
export const WORKSPACE_WIDTH = 3;

/** Columns of an API, in the order that {@link apiRecord} reads. */
export const API_COLUMNS =
  "a.id, a.workspace_id, a.name, a.delete_protection, a.ip_whitelist, a.created_at, a.version";
export const API_WIDTH = 7;

/** Columns of an identity and its counters, in the order that {@link loadedIdentity} reads. */
export const IDENTITY_COLUMNS = `i.id, i.workspace_id, i.external_id, i.meta, i.ratelimits,
  i.refill_interval, i.refill_amount, i.refill_day, i.created_at, i.version,
  iu.remaining, iu.refilled_at`;

/** Columns of a root key, in the order that {@link rootKeyRecord} reads. */
export const ROOT_KEY_COLUMNS = `r.id, r.workspace_id, r.hash, r.start, r.name, r.permissions,
  r.expires_at, r.switched_on, r.created_at`;
export const ROOT_KEY_WIDTH = 9;

/**
 * @param row - Columns from `at` on: NULL, or no row, where the workspace was never touched.
 * @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written.
 */
export function workspaceRecord(id: string, row: RawRow | undefined, at = 0): WorkspaceRecord {
  if (row === undefined || row[at + 1] === null) return untouchedWorkspace(id);
  return readStored("workspace", id, () => ({
    id,
    name: nullable(row[at], text),
    enabled: flag(row[at + 1]),
    epoch: whole(row[at + 2]),
  }));
}

/** @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written. */
export function apiRecord(row: RawRow, at = 0): ApiRecord {
  return readStored("api", row[at], () => ({
    id: text(row[at]),
    workspaceId: text(row[at + 1]),
    name: text(row[at + 2]),
    deleteProtection: flag(row[at + 3]),
    ipWhitelist: list(json(row[at + 4]), text),
    createdAt: whole(row[at + 5]),
    version: whole(row[at + 6]),
  }));
}

/** @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written. */
export function loadedIdentity(row: RawRow, at = 0): LoadedIdentity {
  return readStored("identity", row[at], () => ({
    identity: {
      id: text(row[at]),
      workspaceId: text(row[at + 1]),
      externalId: text(row[at + 2]),
      meta: metadata(row[at + 3]),
      ratelimits: decodeIdentityLimits(row[at + 4]),
      refill: refillOf(row[at + 5], row[at + 6], row[at + 7]),
      createdAt: whole(row[at + 8]),
      version: whole(row[at + 9]),
    },
    usage: { remaining: nullable(row[at + 10], whole), refilledAt: whole(row[at + 11]) },
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

/** Reads a column `meta` that is not NULL. */
export function metadata(value: unknown): Metadata {
  return object(json(value)) as Metadata;
}
