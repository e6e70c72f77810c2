import { createLruCache, type LruCache } from "../lib/lru-cache.js";
import type { Want } from "../store/key-store.js";

/** Most APIs in the cache. */
export const MAX_KNOWN_APIS = 2_000;

/** Most ids in the cache, about 200 bytes each. */
const MAX_IDS = 20_000;

/**
 * Ids of records that this process found before, by name or by id. A name means the same record for as long as that exists, so an operation
 * may use the id without reading, and let the commit find out whether the record still exists.
 */
export class KnownIds {
  readonly #ids: LruCache<string> = createLruCache(MAX_IDS);

  /** The id of a record that was found, or null if unknown. */
  find(workspaceId: string, want: Want): string | null {
    return this.#ids.get(`${workspaceId} ${nameOf(want)}`) ?? null;
  }

  /** `id`: id of the record that was found, or null if there was none. */
  learn(workspaceId: string, want: Want, id: string | null): void {
    const name = `${workspaceId} ${nameOf(want)}`;
    if (id === null) this.#ids.delete(name);
    else this.#ids.set(name, id);
  }
}

/** A want as a text. Kinds and indexes contain no space; an id or a value may contain anything, so it comes last. */
export function nameOf(want: Want): string {
  return "id" in want ? `${want.kind} ${want.id}` : `${want.kind} ${want.index} ${want.value}`;
}
