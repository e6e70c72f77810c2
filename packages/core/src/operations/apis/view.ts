import type { Facts } from "../../audit/diff.js";
import type { ApiRecord } from "../../records/api.js";

/** An API as it is shown. Fields without a value are absent. */
export interface ListedApi {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  /** Present while the API is kept from being deleted. */
  readonly deleteProtection?: true;
  /** Addresses and CIDR ranges that its keys may be used from, in their one form; absent where that is anywhere. */
  readonly ipWhitelist?: readonly string[];
}

/** Writes an API as it is shown. */
export function toListedApi(api: ApiRecord): ListedApi {
  const { id, name, workspaceId, deleteProtection, ipWhitelist } = api;
  return {
    id,
    name,
    workspaceId,
    ...(deleteProtection && { deleteProtection }),
    ...(ipWhitelist.length > 0 && { ipWhitelist }),
  };
}

/** The settings of an API in the words of the HTTP contract, for the audit log. */
export function apiFacts({
  name,
  deleteProtection,
  ipWhitelist,
}: Pick<ApiRecord, "name" | "deleteProtection" | "ipWhitelist">): Facts {
  return {
    name,
    deleteProtection: deleteProtection ? true : null,
    ipWhitelist: ipWhitelist.length === 0 ? null : ipWhitelist,
  };
}
