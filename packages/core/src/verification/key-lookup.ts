import { deepFrozen } from "../lib/deep-freeze.js";
import type { OperationContext } from "../operations/context.js";
import type { LoadedKey } from "../records/key.js";
import { secretShape } from "../secrets/format.js";
import { sharedApi } from "./shared-api.js";

/** For whom a verification is done. */
export interface VerifyScope {
  /** Only keys of these APIs exist for this caller; every other is `NOT_FOUND`. Omitted: all of the workspace. */
  readonly apiIds?: readonly string[];
}

/**
 * Reads the key of a secret from the store, unless the string cannot be a secret at all.
 *
 * @param hashes - Those of the secret, the likeliest first.
 */
export async function findKeyOf(
  { store, workspaceId, apis }: OperationContext,
  secret: string,
  hashes: readonly string[],
): Promise<LoadedKey | null> {
  const shape = secretShape(secret);
  if (shape === "malformed" || shape === "damaged") return null;
  for (const hash of hashes) {
    const loaded = await store.findKey(hash, workspaceId);
    if (loaded === null) continue;
    const api = sharedApi(apis, loaded.api);
    return frozenRecords(api === loaded.api ? loaded : { ...loaded, api });
  }
  return null;
}

/** Whether a key exists for whom a verification is done. */
export function isVisible(
  { workspaceId }: OperationContext,
  { apiIds }: VerifyScope,
  { key }: LoadedKey,
): boolean {
  return key.workspaceId === workspaceId && (apiIds === undefined || apiIds.includes(key.apiId));
}

/** Verdicts hand out parts of what is cached: whoever changed one would change what later verdicts rest on. */
function frozenRecords(loaded: LoadedKey): LoadedKey {
  const { key, identity, roles, permissions } = loaded;
  for (const record of [key, identity, roles, permissions]) deepFrozen(record);
  return loaded;
}
