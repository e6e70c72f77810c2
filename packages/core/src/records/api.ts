import type { EpochMs } from "../time.js";
import { defineRecord, unlessEmpty } from "./record-type.js";

/** A key space. */
export interface ApiRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  /** A protected API is not deleted until the protection is taken away. */
  readonly deleteProtection: boolean;
  /**
   * Addresses and CIDR ranges that its keys may be used from, IPv4 and IPv6, each in one canonical form; empty: from
   * anywhere.
   */
  readonly ipWhitelist: readonly string[];
  readonly createdAt: EpochMs;
  /** Rises by one with every change of a field above. */
  readonly version: number;
}

/** APIs: found by id. */
export const apiType = defineRecord<ApiRecord>({
  kind: "api",
  version: ({ version }) => version,
  write: (api) => ({
    name: api.name,
    deleteProtection: api.deleteProtection || undefined,
    ipWhitelist: unlessEmpty(api.ipWhitelist),
    createdAt: api.createdAt,
  }),
  read: (body, { id, workspaceId, version }) => ({
    id,
    workspaceId,
    name: body.text("name"),
    deleteProtection: body.flag("deleteProtection"),
    ipWhitelist: body.texts("ipWhitelist"),
    createdAt: body.whole("createdAt"),
    version,
  }),
  lists: () => [{ list: "api" }],
});
