import { GroupedById } from "./grouped-by-id.js";
import { type Slice, SortedById } from "./sorted-by-id.js";
import type { StoredKey } from "./stored-key.js";

/** The live keys of one API, in ascending order of id: all of them, and those of each identity. */
export class KeyIndex {
  readonly #all = new SortedById<StoredKey>();
  readonly #byIdentity = new GroupedById<StoredKey>();

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

  /** Lists a key under the identity that it is linked to, if it is. */
  addToIdentity(key: StoredKey): void {
    if (key.linked !== null) this.#byIdentity.add(key.linked.id, key);
  }

  /** The opposite of {@link addToIdentity}: to be called while the key is still linked. */
  removeFromIdentity(key: StoredKey): void {
    if (key.linked !== null) this.#byIdentity.remove(key.linked.id, key);
  }

  /** One page of all keys, or of those that are or were linked to one identity. */
  page(identityId: string | null, afterId: string | null, limit: number): Slice<StoredKey> {
    return identityId === null
      ? this.#all.page(afterId, limit)
      : this.#byIdentity.page(identityId, afterId, limit);
  }
}
