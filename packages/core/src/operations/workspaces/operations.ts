import type { PageInput } from "../input.js";
import type { PageInfo } from "../read.js";

/** Input of setWorkspaceEnabled over HTTP. */
export type SetWorkspaceEnabledInput = {
  /** Whether the workspace is enabled. */
  readonly enabled: boolean;
};

/** A workspace that was created. */
export interface CreatedWorkspace {
  /** `ws_…` */
  readonly workspaceId: string;
}

/** A workspace. */
export interface WorkspaceView {
  /** Id of the workspace. */
  readonly id: string;
  /** For people. */
  readonly name?: string;
  /** Whether it is enabled. */
  readonly enabled: boolean;
}

/** A page of workspaces. */
export interface WorkspaceList extends PageInfo {
  /** In ascending order of id. */
  readonly workspaces: readonly WorkspaceView[];
  /** Exact number of workspaces of the store. */
  readonly total: number;
}

/** Operations on workspaces: the tenants of a store. */
export interface WorkspaceOperations {
  /**
   * Creates an enabled workspace with a new id. Work in it with `latchkey.workspace(workspaceId)`.
   *
   * You can also use any id without this call. It gives you an id that no other tenant has, and a name.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { workspaceId } = await latchkey.createWorkspace({ name: "Northwind" });
   */
  createWorkspace(input?: {
    /** For people: 1 to 256 characters. */
    readonly name?: string | undefined;
  }): Promise<CreatedWorkspace>;
  /**
   * Reads this workspace. One that was never written to exists too: enabled, without a name.
   *
   * @throws LatchkeyError `STORE_CORRUPT` if its record is damaged.
   * @example
   * const { id, enabled } = await latchkey.getWorkspace();
   */
  getWorkspace(): Promise<WorkspaceView>;
  /**
   * Whether this workspace is enabled, for callers without a root key.
   *
   * @throws LatchkeyError `STORE_CORRUPT` if its record is damaged.
   * @example
   * if (!(await latchkey.isWorkspaceEnabled())) console.log("switched off");
   */
  isWorkspaceEnabled(): Promise<boolean>;
  /**
   * Enables or disables this workspace, for every call that starts after this has resolved. While it is disabled, every verification
   * returns `FORBIDDEN`, and its root keys authorise nothing.
   *
   * @param enabled - Exactly true or false.
   * @throws LatchkeyError `BAD_REQUEST` for anything else.
   * @example
   * await latchkey.setWorkspaceEnabled(false);
   */
  setWorkspaceEnabled(enabled: boolean): Promise<void>;
  /**
   * Lists all workspaces of the store that were ever written to, a page at a time; `workspaces()` iterates over all of them. Each page
   * reads the ids of all.
   *
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { workspaces, total, cursor } = await latchkey.listWorkspaces({ limit: 20 });
   */
  listWorkspaces(input?: PageInput): Promise<WorkspaceList>;
  /**
   * Renames a workspace.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.updateWorkspace({ workspaceId, name: "Northwind Ltd" });
   */
  updateWorkspace(input: {
    /** Id of the workspace. Default: this one. */
    readonly workspaceId?: string | undefined;
    /** For people: 1 to 256 characters; null for none. If omitted, it stays. */
    readonly name?: string | null | undefined;
  }): Promise<Record<string, never>>;
  /**
   * Deletes a workspace with everything in it, including its statistics and its audit log. From the first step on, every verification in it
   * returns `FORBIDDEN`, its root keys authorise nothing, and nothing is written to it. It works in bounded steps that do not hold up other
   * workspaces. If it fails on the way, the workspace stays closed: call it again. For a workspace that is already gone it resolves too.
   *
   * It cannot be undone. The id can then be used for a new workspace.
   *
   * @throws LatchkeyError `BAD_REQUEST`, also if `confirm` is not the id; `PRECONDITION_FAILED` while the store is being copied.
   * @example
   * await latchkey.deleteWorkspace({ workspaceId, confirm: workspaceId });
   */
  deleteWorkspace(input: {
    /** Id of the workspace. */
    readonly workspaceId: string;
    /** The same id once more, as a safeguard. */
    readonly confirm: string;
  }): Promise<Record<string, never>>;
}
