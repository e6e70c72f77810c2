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
   * Switches this workspace on or off. While it is off no verification gives a verdict (`FORBIDDEN`) and no root key of it
   * authorises anything. Seen by every call that starts after this has resolved.
   *
   * @param enabled - true or false, and nothing that merely looks like one: a kill switch must not guess.
   * @throws LatchkeyError `BAD_REQUEST` for anything else.
   * @example
   * await latchkey.setWorkspaceEnabled(false);
   */
  setWorkspaceEnabled(enabled: boolean): Promise<void>;
}
