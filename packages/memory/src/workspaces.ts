import { untouchedWorkspace, type WorkspaceRecord } from "@latchkey/core";
import type { StoredApi } from "./stored-api.js";
import type { StoredKeys } from "./stored-keys.js";
import { StoredWorkspace } from "./workspace.js";

/** All workspaces that something was written to. Reading makes none. */
export class Workspaces {
  readonly #byId = new Map<string, StoredWorkspace>();
  readonly #allKeys: StoredKeys;

  constructor(allKeys: StoredKeys) {
    this.#allKeys = allKeys;
  }

  find(workspaceId: string): StoredWorkspace | undefined {
    return this.#byId.get(workspaceId);
  }

  /** The workspace to write to. */
  open(workspaceId: string): StoredWorkspace {
    const known = this.#byId.get(workspaceId);
    if (known !== undefined) return known;
    const workspace = new StoredWorkspace(workspaceId, this.#allKeys);
    this.#byId.set(workspaceId, workspace);
    return workspace;
  }

  record(workspaceId: string): WorkspaceRecord {
    return this.#byId.get(workspaceId)?.record ?? untouchedWorkspace(workspaceId);
  }

  findApi(workspaceId: string, apiId: string): StoredApi | undefined {
    return this.#byId.get(workspaceId)?.findApi(apiId);
  }

  clear(): void {
    this.#byId.clear();
  }
}
