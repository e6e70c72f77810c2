import type { ApiPatch, ApiRecord, LoadedKey, Page, PageRequest } from "@latchkey/core";
import { frozenCopy } from "./frozen.js";
import { KeyIndex } from "./key-index.js";
import type { Slice } from "./sorted-by-id.js";
import type { StoredKey } from "./stored-key.js";
import type { StoredWorkspace } from "./workspace.js";

const NO_KEYS: Slice<StoredKey> = { items: [], hasMore: false };

/** An API with its keys. */
export class StoredApi {
  record: ApiRecord;
  readonly workspace: StoredWorkspace;
  readonly keys = new KeyIndex();
  /** A deleted API is kept until its keys are gone: they are still to be found through it, by no one else. */
  isLive = true;

  constructor(record: ApiRecord, workspace: StoredWorkspace) {
    this.record = frozenCopy(record);
    this.workspace = workspace;
  }

  get id(): string {
    return this.record.id;
  }

  /** One page of its keys: of all, or of those that are linked to one identity. */
  listKeys(identityId: string | null, { afterId, limit }: PageRequest): Page<LoadedKey> {
    const { workspace, keys } = this;
    const isGone = identityId !== null && workspace.identities.find({ identityId }) === null;
    const { items, hasMore } = isGone ? NO_KEYS : keys.page(identityId, afterId, limit);
    return { items: items.map((key) => key.load()), hasMore, total: keys.size };
  }

  /** Sets the fields that the patch gives; the version rises whatever they were before. */
  patch({ name, deleteProtection, ipWhitelist }: ApiPatch): void {
    const { record } = this;
    this.record = frozenCopy({
      ...record,
      name: name ?? record.name,
      deleteProtection: deleteProtection ?? record.deleteProtection,
      ipWhitelist: ipWhitelist ?? record.ipWhitelist,
      version: record.version + 1,
    });
  }
}
