import {
  type ApiPatch,
  type ApiRecord,
  type Page,
  type PageRequest,
  untouchedWorkspace,
  type WorkspaceRecord,
} from "@latchkey/core";
import { WorkspaceGrants } from "./grants.js";
import { Identities } from "./identities.js";
import { SortedById } from "./sorted-by-id.js";
import { StoredApi } from "./stored-api.js";
import type { StoredKey } from "./stored-key.js";
import type { StoredKeys } from "./stored-keys.js";
import { VerificationCounters } from "./verification-counters.js";

/** A workspace with all that is found in it by id or name. */
export class StoredWorkspace {
  record: WorkspaceRecord;
  /** The keys of all workspaces of the store that this one belongs to. */
  readonly allKeys: StoredKeys;
  /** Those that exist, in order. */
  readonly #apis = new SortedById<StoredApi>();
  /** Those that exist, and those that were deleted and still have keys. */
  readonly #apiById = new Map<string, StoredApi>();
  readonly keyByHash = new Map<string, StoredKey>();
  readonly grants = new WorkspaceGrants(() => this.raiseEpoch());
  readonly identities = new Identities();
  readonly verifications = new VerificationCounters();
  /** Whether its record was written or switched: one that merely has keys may still be given a name. */
  #isWritten = false;

  constructor(id: string, allKeys: StoredKeys) {
    this.allKeys = allKeys;
    this.record = Object.freeze(untouchedWorkspace(id));
  }

  /** Writes the record; the epoch does not go back where something was in the workspace before. */
  insert(workspace: WorkspaceRecord): "inserted" | "taken" {
    if (this.#isWritten) return "taken";
    this.#isWritten = true;
    const { name, enabled, epoch } = workspace;
    const isUntouched = this.record.epoch === 0 && this.#apiById.size === 0;
    this.record = Object.freeze({
      ...this.record,
      name,
      enabled,
      epoch: isUntouched ? epoch : Math.max(epoch, this.record.epoch + 1),
    });
    return "inserted";
  }

  setEnabled(enabled: boolean): void {
    this.#isWritten = true;
    this.record = Object.freeze({ ...this.record, enabled, epoch: this.record.epoch + 1 });
  }

  /** Makes every verification load its key anew. */
  raiseEpoch(): void {
    this.record = Object.freeze({ ...this.record, epoch: this.record.epoch + 1 });
  }

  findApi(apiId: string): StoredApi | undefined {
    const api = this.#apiById.get(apiId);
    return api?.isLive ? api : undefined;
  }

  /** Also one that was deleted, while it still has keys. */
  findApiToEmpty(apiId: string): StoredApi | undefined {
    return this.#apiById.get(apiId);
  }

  listApis({ afterId, limit }: PageRequest): Page<ApiRecord> {
    const { items, hasMore } = this.#apis.page(afterId, limit);
    return { items: items.map(({ record }) => record), hasMore, total: this.#apis.size };
  }

  addApi(record: ApiRecord): void {
    const api = new StoredApi(record, this);
    this.#apiById.set(api.id, api);
    this.#apis.add(api);
  }

  updateApi(
    apiId: string,
    expectedVersion: number,
    patch: ApiPatch,
  ): "updated" | "not-found" | "stale" {
    const api = this.findApi(apiId);
    if (api === undefined) return "not-found";
    if (api.record.version !== expectedVersion) return "stale";
    api.patch(patch);
    this.raiseEpoch();
    return "updated";
  }

  deleteApi(apiId: string): "deleted" | "not-found" | "protected" {
    const api = this.findApi(apiId);
    if (api === undefined) return "not-found";
    if (api.record.deleteProtection) return "protected";
    api.isLive = false;
    this.#apis.remove(api);
    this.forgetIfEmpty(api);
    this.raiseEpoch();
    return "deleted";
  }

  /** Lets go of an API that was deleted and has no keys any more. */
  forgetIfEmpty(api: StoredApi): void {
    if (!api.isLive && api.keys.size === 0) this.#apiById.delete(api.id);
  }
}
