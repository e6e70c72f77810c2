/** A tenant. A workspace that was never written exists, enabled, at epoch 0. */
export interface WorkspaceRecord {
  readonly id: string;
  /** Null where it was never given one. */
  readonly name: string | null;
  /** A disabled workspace verifies nothing and answers no management call over HTTP. */
  readonly enabled: boolean;
  /**
   * Rises with every change or deletion of an API, role or permission and with every change of the workspace itself:
   * whoever holds a decision made at an older epoch must decide again. Making a new one need not raise it.
   */
  readonly epoch: number;
}

/** Workspace used where none is named. */
export const DEFAULT_WORKSPACE_ID = "ws_default";

/** What a workspace id may be: it becomes part of cursors and of key names in stores. */
export const WORKSPACE_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** The workspace as it is before anything was written about it. */
export function untouchedWorkspace(id: string): WorkspaceRecord {
  return { id, name: null, enabled: true, epoch: 0 };
}
