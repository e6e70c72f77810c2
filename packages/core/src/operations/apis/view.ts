import type { AuditFields } from "../../audit/diff.js";
import type { ApiRecord } from "../../records/api.js";

/** An API as it is shown. Fields without a value are absent. */
export interface ApiView {
  /** `api_…` */
  readonly id: string;
  /** What it is called. */
  readonly name: string;
  /** Id of the workspace. */
  readonly workspaceId: string;
  /** Present while the API is kept from being deleted. */
  readonly deleteProtection?: true;
  /** Addresses and CIDR ranges that its keys may be used from, in their one form; absent where that is anywhere. */
  readonly ipWhitelist?: readonly string[];
}

/** An API as it is shown. */
export function toApiView(api: ApiRecord): ApiView {
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
export function apiFields({
  name,
  deleteProtection,
  ipWhitelist,
}: Pick<ApiRecord, "name" | "deleteProtection" | "ipWhitelist">): AuditFields {
  return {
    name,
    deleteProtection: deleteProtection ? true : null,
    ipWhitelist: ipWhitelist.length === 0 ? null : ipWhitelist,
  };
}
