import { createLruCache, type LruCache } from "../lib/lru-cache.js";
import type { Want } from "../store/key-store.js";

/** Most APIs that are kept. */
export const MAX_KNOWN_APIS = 2_000;

/** Most ids that are kept, about 200 bytes each. */
const MAX_IDS = 20_000;

/**
 * Ids of records that this process found by name or by id before. A name means the same record for as long as that exists, so
 * an operation may go by it without reading, and let the commit find out whether the record is still there.
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

/** What is wanted, as a text. Neither a kind nor an index holds a space; an id or a value may hold anything, and comes last. */
export function nameOf(want: Want): string {
  return "id" in want ? `${want.kind} ${want.id}` : `${want.kind} ${want.index} ${want.value}`;
}
