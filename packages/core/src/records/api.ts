import type { JsonValue } from "../lib/json.js";
import type { EpochMs } from "../time.js";
import { defineRecord, unlessEmpty, type VersionedHead } from "./record-type.js";

/** A key space. */
export interface ApiRecord extends VersionedHead {
  readonly name: string;
  /** A protected API cannot be deleted until the protection is removed. */
  readonly deleteProtection: boolean;
  /** Addresses and CIDR ranges that its keys may be used from, each in canonical form; empty: from anywhere. */
  readonly ipWhitelist: readonly string[];
  /** Defaults for new keys that do not set these fields, or null. See `operations/apis/key-rules.ts`. */
  readonly defaults: { readonly [field: string]: JsonValue } | null;
  /** Upper bounds for keys, or null. */
  readonly ceilings: { readonly [field: string]: JsonValue } | null;
  readonly createdAt: EpochMs;
}

/** APIs: found by id. */
export const apiType = defineRecord<ApiRecord>({
  kind: "api",
  write: (api) => ({
    name: api.name,
    deleteProtection: api.deleteProtection || undefined,
    ipWhitelist: unlessEmpty(api.ipWhitelist),
    defaults: api.defaults,
    ceilings: api.ceilings,
    createdAt: api.createdAt,
  }),
  read: (body, head) => ({
    ...head,
    name: body.text("name"),
    deleteProtection: body.flag("deleteProtection"),
    ipWhitelist: body.texts("ipWhitelist"),
    defaults: body.jsonOrNull("defaults"),
    ceilings: body.jsonOrNull("ceilings"),
    createdAt: body.whole("createdAt"),
  }),
});
