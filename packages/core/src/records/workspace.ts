import { defineRecord, type StoredRecord } from "./record-type.js";

/** A tenant. A workspace that was never written exists, enabled. */
export interface WorkspaceRecord {
  readonly id: string;
  /** Null if it never had one. */
  readonly name: string | null;
  /** A disabled workspace verifies nothing and answers no management call over HTTP. */
  readonly enabled: boolean;
  readonly version: number;
}

/** Workspaces: found by id, in themselves. */
export const workspaceType = defineRecord<WorkspaceRecord>({
  kind: "workspace",
  // `disabled` is always written, unlike in other kinds: nothing else is required, so a damaged body without it would read as enabled.
  write: ({ name, enabled }) => ({ name, disabled: !enabled }),
  read: (body, { id, version }) => ({
    id,
    name: body.textOrNull("name"),
    enabled: !body.flagGiven("disabled"),
    version,
  }),
  lists: () => [],
});

/** Id of the default workspace. */
export const DEFAULT_WORKSPACE_ID = "ws_default";

/** What a workspace id may be. It is part of cursors and of names in stores. */
export const WORKSPACE_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

export function unwrittenWorkspace(id: string): WorkspaceRecord {
  return { id, name: null, enabled: true, version: 0 };
}

/** A workspace as it was read. Without a record, it was never written to. @throws LatchkeyError `STORE_CORRUPT` for a damaged one. */
export function workspaceOf(record: StoredRecord | undefined, id: string): WorkspaceRecord {
  return record === undefined ? unwrittenWorkspace(id) : workspaceType.decode(record, id);
}
