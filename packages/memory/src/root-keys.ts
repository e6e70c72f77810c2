import type { PageRequest, RootKeyRecord } from "@latchkey/core";
import { frozenCopy } from "./frozen.js";
import { SortedById } from "./sorted-by-id.js";

/** The root keys of all workspaces: whoever shows one does not say which workspace it is of. */
export class RootKeys {
  readonly #byHash = new Map<string, RootKeyRecord>();
  readonly #byId = new Map<string, RootKeyRecord>();
  readonly #byWorkspace = new Map<string, SortedById<RootKeyRecord>>();

  insert(record: RootKeyRecord): void {
    const rootKey = frozenCopy(record);
    this.#byHash.set(rootKey.hash, rootKey);
    this.#byId.set(rootKey.id, rootKey);
    const listed = this.#byWorkspace.get(rootKey.workspaceId) ?? new SortedById<RootKeyRecord>();
    listed.add(rootKey);
    this.#byWorkspace.set(rootKey.workspaceId, listed);
  }

  find(hash: string): RootKeyRecord | undefined {
    return this.#byHash.get(hash);
  }

  list(workspaceId: string, { afterId, limit }: PageRequest) {
    const listed = this.#byWorkspace.get(workspaceId) ?? new SortedById<RootKeyRecord>();
    return { ...listed.page(afterId, limit), total: listed.size };
  }

  delete(workspaceId: string, rootKeyId: string): "deleted" | "not-found" {
    const rootKey = this.#byId.get(rootKeyId);
    if (rootKey?.workspaceId !== workspaceId) return "not-found";
    this.#byId.delete(rootKeyId);
    this.#byHash.delete(rootKey.hash);
    this.#byWorkspace.get(workspaceId)?.remove(rootKey);
    return "deleted";
  }

  clear(): void {
    this.#byHash.clear();
    this.#byId.clear();
    this.#byWorkspace.clear();
  }
}
