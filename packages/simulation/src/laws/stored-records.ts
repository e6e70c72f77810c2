import type { Change, LimitAlgorithm } from "@latchkey/core";
import type { ModelWorkspace } from "../model/store-model.js";

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

/** Id of the record that an entry is about; "": none. */
export function resourceOf({ resourceId, keyId, identityId }: AuditEntry): string {
  return resourceId ?? keyId ?? identityId ?? "";
}
