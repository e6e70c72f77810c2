import {
  type ApiRecord,
  type IdentityLookup,
  type IdentityRecord,
  untouchedWorkspace,
  type WorkspaceRecord,
} from "@latchkey/core";
import { frozenCopy } from "./frozen.js";
import { WorkspaceGrants } from "./grants.js";
import { KeyIndex } from "./key-index.js";
import { SortedById } from "./sorted-by-id.js";
import { StoredIdentity } from "./stored-identity.js";
import type { StoredKey } from "./stored-key.js";
import type { StoredKeys } from "./stored-keys.js";

/** An API with its keys. */
export interface StoredApi {
  readonly record: ApiRecord;
  readonly workspace: StoredWorkspace;
  readonly keys: KeyIndex;
  /** A deleted API is kept until its keys are gone: they are still to be found through it, by no one else. */
  isLive: boolean;
}

/** A workspace with all that is found in it by id or name. */
export class StoredWorkspace {
  record: WorkspaceRecord;
  /** The keys of all workspaces of the store that this one belongs to. */
  readonly allKeys: StoredKeys;
  readonly apis = new Map<string, StoredApi>();
  readonly keyByHash = new Map<string, StoredKey>();
  readonly grants = new WorkspaceGrants();
  readonly identities = new SortedById<StoredIdentity>();
  readonly #identityById = new Map<string, StoredIdentity>();
  readonly #identityByExternalId = new Map<string, StoredIdentity>();

  constructor(id: string, allKeys: StoredKeys) {
    this.allKeys = allKeys;
    this.record = Object.freeze(untouchedWorkspace(id));
  }

  setEnabled(enabled: boolean): void {
    this.#change({ enabled });
  }

  deleteApi(api: StoredApi): void {
    api.isLive = false;
    if (api.keys.size === 0) this.apis.delete(api.record.id);
    this.#change({});
  }

  #change(fields: Partial<WorkspaceRecord>): void {
    this.record = Object.freeze({ ...this.record, ...fields, epoch: this.record.epoch + 1 });
  }

  addApi(api: ApiRecord): void {
    const record = frozenCopy(api);
    this.apis.set(api.id, { record, workspace: this, keys: new KeyIndex(), isLive: true });
  }

  findIdentity(lookup: IdentityLookup): StoredIdentity | null {
    const found =
      "identityId" in lookup
        ? this.#identityById.get(lookup.identityId)
        : this.#identityByExternalId.get(lookup.externalId);
    return found ?? null;
  }

  /** Adds an identity whose id and `externalId` are new. */
  addIdentity(record: IdentityRecord): StoredIdentity {
    const identity = new StoredIdentity(record);
    this.#identityById.set(record.id, identity);
    this.#identityByExternalId.set(record.externalId, identity);
    this.identities.add(identity);
    return identity;
  }

  /** The identity with the candidate's `externalId`; the candidate itself where there is none yet. */
  findOrAddIdentity(candidate: IdentityRecord): StoredIdentity {
    return this.findIdentity({ externalId: candidate.externalId }) ?? this.addIdentity(candidate);
  }
}
