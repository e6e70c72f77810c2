import { z } from "zod";
import {
  unwrittenWorkspace,
  WORKSPACE_ID_PATTERN,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import type { Transaction } from "../../store/transaction.js";
import { decodeOrNull, readStored } from "../damaged.js";
import { orRequired } from "../input.js";

const ID_ERROR = "must be 1 to 64 characters of A-Z a-z 0-9 _ -";

export const workspaceIdInput = z
  .string({ error: orRequired(ID_ERROR) })
  .regex(WORKSPACE_ID_PATTERN, { error: ID_ERROR });

/** The workspace before it was written to, and after. */
export interface WrittenWorkspace {
  /** Null: its record could not be read. */
  readonly before: WorkspaceRecord | null;
  readonly after: WorkspaceRecord;
}

/**
 * Enables, disables or renames a workspace; one that was never written is written. Every process reads it again.
 *
 * @returns Null if nothing changes.
 * @throws LatchkeyError `STORE_CORRUPT` if it is only renamed and its record is damaged.
 */
export async function writeWorkspace(
  transaction: Transaction,
  fields: Partial<Pick<WorkspaceRecord, "enabled" | "name">>,
): Promise<WrittenWorkspace | null> {
  const { workspaceId } = transaction;
  const address = { kind: "workspace", id: workspaceId } as const;
  const stored = await readStored(transaction, address);
  if (stored === null) transaction.expect({ ...address, version: null });
  const unwritten = unwrittenWorkspace(workspaceId);
  let before: WorkspaceRecord | null = unwritten;
  if (stored !== null && fields.enabled === undefined)
    before = workspaceType.decode(stored, workspaceId);
  // A record that cannot be read must not keep the kill switch from working; only a name is lost.
  else if (stored !== null) before = decodeOrNull(workspaceType, stored, workspaceId);
  const after = { ...(before ?? { ...unwritten, version: stored?.version ?? 0 }), ...fields };
  if (before?.enabled === after.enabled && before.name === after.name) return null;
  transaction.update(workspaceType, before ?? unwritten, after);
  transaction.renewRevision();
  return { before, after };
}
