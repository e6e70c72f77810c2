import type { Change, LimitAlgorithm, StoredRecord } from "@latchkey/core";
import type { ModelWorkspace } from "../model/store-model.js";
import type { Write } from "../world/server.js";

/** The body of a record as stored, read without core's decoder. */
export type Body = Readonly<Record<string, unknown>>;

/** A limit, as stored in the body of its key or identity. */
export interface StoredLimit {
  /** Absent: `default`. */
  readonly name?: string;
  readonly limit: number;
  readonly duration: number;
  /** Absent: `fixed`. */
  readonly algorithm?: LimitAlgorithm;
  /** Absent: as many as `limit`. */
  readonly burst?: number;
  readonly shadow?: boolean;
  readonly autoApply?: boolean;
}

/** An entry of the audit log as it is stored. */
export interface AuditEntry {
  readonly type: string;
  readonly keyId?: string;
  readonly identityId?: string;
  readonly resourceId?: string;
  readonly before?: Body;
  readonly after?: Body;
}

/** The body of a record; null if the record does not exist, or is damaged. */
export function bodyOf(workspace: ModelWorkspace, kind: string, id = ""): Body | null {
  if (workspace.damaged.has(id)) return null;
  return (workspace.get(kind, id)?.record.body as Body | undefined) ?? null;
}

/** The audit entries that a change adds. Those that it overwrites, because a user is erased, are not among them. */
export function entriesOf({ puts }: Change, before: ModelWorkspace): readonly AuditEntry[] {
  return puts.flatMap(({ record: { kind, id, body } }) =>
    kind === "auditEntry" && before.get(kind, id) === undefined
      ? [body as unknown as AuditEntry]
      : [],
  );
}

/** Every record that was ever written in a workspace, in order, each with its write: also those that the store has lost since. */
export function* writtenRecords(
  log: readonly Write[],
  workspaceId: string,
): Generator<{ readonly record: StoredRecord; readonly write: Write }> {
  for (const write of log)
    if (write.method === "commit" && write.args[0] === workspaceId)
      for (const { record } of (write.args[1] as Change).puts) yield { record, write };
}

/** Id of the record that an entry is about; "": none. */
export function resourceOf({ resourceId, keyId, identityId }: AuditEntry): string {
  return resourceId ?? keyId ?? identityId ?? "";
}
