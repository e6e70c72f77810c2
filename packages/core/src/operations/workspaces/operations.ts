import type { PageInput } from "../input.js";
import type { PageInfo } from "../read.js";

/** Input of setWorkspaceEnabled over HTTP. */
export type SetWorkspaceEnabledInput = {
  /** Whether the workspace is switched on. */
  readonly enabled: boolean;
};

/** A workspace that was created. */
export interface CreatedWorkspace {
  /** `ws_…` */
  readonly workspaceId: string;
}

/** A workspace as it is shown. Without a name it was never given one. */
export interface WorkspaceView {
  /** Id of the workspace. */
  readonly id: string;
  /** For people. */
  readonly name?: string;
  /** Whether it is switched on. */
  readonly enabled: boolean;
}

/** A page of workspaces in the order of their ids; without `cursor` it is the last one. */
export interface WorkspaceList extends PageInfo {
  /** In ascending order of id. */
  readonly workspaces: readonly WorkspaceView[];
  /** Exact number of workspaces of the store. */
  readonly total: number;
}

/** Operations on workspaces: the tenants of a store. */
export interface WorkspaceOperations {
  /**
   * Creates a workspace, switched on, with an id that is new. Work in it with `latchkey.workspace(workspaceId)`.
   *
   * Nothing needs it: every id names a workspace. What it adds is an id that no other tenant has, and a name.
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
   * Reads this workspace. One that was never written exists too: switched on, without a name.
   *
   * @throws LatchkeyError `STORE_CORRUPT` where its record is damaged.
   * @example
   * const { id, enabled } = await latchkey.getWorkspace();
   */
  getWorkspace(): Promise<WorkspaceView>;
  /**
   * Whether this workspace is switched on. Authenticating a root key says so, too; this is for callers known in another way.
   *
   * @throws LatchkeyError `STORE_CORRUPT` where its record is damaged.
   * @example
   * if (!(await latchkey.isWorkspaceEnabled())) console.log("switched off");
   */
  isWorkspaceEnabled(): Promise<boolean>;
  /**
   * Switches this workspace on or off. While it is off every verification answers `FORBIDDEN`, and no root key of it
   * authorises anything. Seen by every call that starts after this has resolved.
   *
   * @param enabled - true or false, and nothing that merely looks like one: a kill switch must not guess.
   * @throws LatchkeyError `BAD_REQUEST` for anything else.
   * @example
   * await latchkey.setWorkspaceEnabled(false);
   */
  setWorkspaceEnabled(enabled: boolean): Promise<void>;
  /**
   * Lists the workspaces of the store to which anything was ever written, whichever this latchkey works in; `workspaces()` goes through all
   * of them. Each page asks the store for the ids of all.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { workspaces, total, cursor } = await latchkey.listWorkspaces({ limit: 20 });
   */
  listWorkspaces(input?: PageInput): Promise<WorkspaceList>;
  /**
   * Names a workspace: this one, unless another is given. One that was never written is written.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.updateWorkspace({ workspaceId, name: "Northwind Ltd" });
   */
  updateWorkspace(input: {
    /** Id of the workspace; this one unless given. */
    readonly workspaceId?: string | undefined;
    /** For people: 1 to 256 characters; null for none. Left out, it stays. */
    readonly name?: string | null | undefined;
  }): Promise<Record<string, never>>;
  /**
   * Deletes a workspace with everything in it: keys, identities, APIs, roles, root keys, counters, statistics, what is remembered for
   * repeats, and its audit log. From its first step on every verification in it answers `FORBIDDEN`, no root key of it authorises
   * anything, and nothing is written to it. It works in bounded steps: other workspaces get through. Where it breaks off, the workspace
   * stays closed, and a second call goes on; one for a workspace that is gone resolves as well.
   *
   * It cannot be undone. The id may be used again, for a workspace that is new.
   *
   * @throws LatchkeyError `BAD_REQUEST`, also where `confirm` is not the id; `PRECONDITION_FAILED` while the store is being copied.
   * @example
   * await latchkey.deleteWorkspace({ workspaceId, confirm: workspaceId });
   */
  deleteWorkspace(input: {
    /** Id of the workspace. */
    readonly workspaceId: string;
    /** The id once more: nothing is deleted by a call that lacks it. */
    readonly confirm: string;
  }): Promise<Record<string, never>>;
}
