import { LatchkeyError } from "../../errors.js";
import { type KeyRecord, keysOfApi } from "../../records/key.js";
import type { KeyStore } from "../../store/key-store.js";
import type { EpochMs } from "../../time.js";
import { Catalog } from "../../verification/catalog.js";
import { type IdentityView, toIdentityView } from "../identities/view.js";
import { loadKeys } from "./load.js";
import { type KeyView, toKeyView } from "./view.js";

/** A key with what no listing shows: what another system needs to verify its secret. */
export interface StoredKey {
  readonly record: KeyRecord;
  /** As it is listed, with uses as of now. */
  readonly view: KeyView;
  /** Name of its API. */
  readonly api: string;
  /** Names of the roles that it was given itself, ascending. */
  readonly roles: readonly string[];
  /** Names of the permissions that it was given itself, ascending. */
  readonly permissions: readonly string[];
  readonly identity: IdentityView | null;
}

/** A page of {@link readStoredKeys}. */
export interface StoredKeyPage {
  readonly keys: readonly StoredKey[];
  /** Keys of the page that cannot be read. */
  readonly damaged: number;
  /** `after` of the next page, or null for the last one. */
  readonly next: string | null;
}

/**
 * The next keys of an API with their hashes, for an export. It is served by no operation: whoever has the store has the hashes.
 *
 * @param page - `after`: as answered by the page before, null for the first; `limit`: 1 to 1,000.
 */
export async function readStoredKeys(
  store: KeyStore,
  workspaceId: string,
  page: { readonly apiId: string; readonly after: string | null; readonly limit: number },
  now: EpochMs,
): Promise<StoredKeyPage> {
  const { apiId, after, limit } = page;
  const { result, keys } = await loadKeys(
    { store, workspaceId, catalog: new Catalog(store) },
    () => store.page(workspaceId, { kind: "key", list: keysOfApi(apiId), after, limit }),
    ({ found }) => found,
  );
  return {
    keys: keys.flatMap((loaded) => {
      if (loaded === null || loaded instanceof LatchkeyError) return [];
      const { key, api, direct, identity, identityUsage } = loaded;
      return {
        record: key,
        view: toKeyView(loaded, now),
        api: api.name,
        roles: direct.roles.map(({ name }) => name),
        permissions: direct.permissions.map(({ name }) => name),
        identity: identity && identityUsage && toIdentityView(identity, identityUsage, now),
      };
    }),
    damaged: keys.filter((loaded) => loaded instanceof LatchkeyError).length,
    next: result.hasMore ? (result.found.at(-1)?.record.id ?? null) : null,
  };
}
