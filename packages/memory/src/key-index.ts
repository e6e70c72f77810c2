import { SortedById } from "./sorted-by-id.js";
import type { StoredKey } from "./stored-key.js";

/** The live keys of one API, in ascending order of id: all of them, and those of each identity. */
export class KeyIndex {
  readonly #all = new SortedById<StoredKey>();
  /** Most identities have one key in an API, which is kept without a list around it. */
  readonly #byIdentity = new Map<string, StoredKey | SortedById<StoredKey>>();

  get size(): number {
    return this.#all.size;
  }

  add(key: StoredKey): void {
    this.#all.add(key);
    this.addToIdentity(key);
  }

  remove(key: StoredKey): void {
    this.#all.remove(key);
    this.removeFromIdentity(key);
  }

  /** Lists a key under the identity that its record names, if it names one. */
  addToIdentity(key: StoredKey): void {
    const { identityId } = key.record;
    if (identityId === null) return;
    const listed = this.#byIdentity.get(identityId);
    if (listed === undefined) this.#byIdentity.set(identityId, key);
    else if (listed instanceof SortedById) listed.add(key);
    else {
      const list = new SortedById<StoredKey>();
      list.add(listed);
      list.add(key);
      this.#byIdentity.set(identityId, list);
    }
  }

  /** The opposite of {@link addToIdentity}: to be called while the record still names the identity. */
  removeFromIdentity(key: StoredKey): void {
    const { identityId } = key.record;
    if (identityId === null) return;
    const listed = this.#byIdentity.get(identityId);
    if (listed instanceof SortedById) listed.remove(key);
    if (listed === key || (listed instanceof SortedById && listed.size === 0)) {
      this.#byIdentity.delete(identityId);
    }
  }

  /** One page of all keys, or of those of one identity. */
  page(
    identityId: string | null,
    afterId: string | null,
    limit: number,
  ): { readonly items: readonly StoredKey[]; readonly hasMore: boolean } {
    if (identityId === null) return this.#all.page(afterId, limit);
    const listed = this.#byIdentity.get(identityId);
    if (listed instanceof SortedById) return listed.page(afterId, limit);
    const isNext = listed !== undefined && (afterId === null || listed.id > afterId);
    return { items: isNext ? [listed] : [], hasMore: false };
  }
}
