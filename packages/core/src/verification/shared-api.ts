import type { KeyCache } from "../lib/lru-cache.js";
import type { ApiRecord } from "../records/api.js";

/** Most APIs whose record is kept for their keys to share. */
export const MAX_SHARED_APIS = 256;

/**
 * Lets warm keys of one API share its record, so that its list of addresses is held once and parsed once, not once for each
 * key: a list may have 1,000 entries, and there may be tens of thousands of warm keys.
 *
 * Compared is what the records say, not their version alone: a store that lost its latest writes may give a version twice.
 *
 * @param shared - By id of the API.
 * @returns A record that says the same: the one that was shared before, where there is one.
 */
export function sharedApi(shared: KeyCache<ApiRecord>, api: ApiRecord): ApiRecord {
  if (api.ipWhitelist.length === 0) return api;
  const known = shared.get(api.id);
  if (known !== undefined && isSame(known, api)) return known;
  shared.set(api.id, api);
  return api;
}

function isSame(one: ApiRecord, other: ApiRecord): boolean {
  return (
    one.workspaceId === other.workspaceId &&
    one.version === other.version &&
    one.name === other.name &&
    one.deleteProtection === other.deleteProtection &&
    one.createdAt === other.createdAt &&
    one.ipWhitelist.length === other.ipWhitelist.length &&
    one.ipWhitelist.every((entry, index) => entry === other.ipWhitelist[index])
  );
}
