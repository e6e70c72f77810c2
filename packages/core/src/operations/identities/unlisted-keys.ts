import { auditEntryType } from "../../records/audit-entry.js";
import { keyType } from "../../records/key.js";
import type { LoadedRecord } from "../../store/key-store.js";
import { type OperationContext, transact } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { deleteEach } from "../many-keys/many-keys.js";
import { decodeAll, listPages, wantsOf } from "../read.js";

/** Entries, and thereby keys, read at once. */
const READ_AT_ONCE = 100;

/**
 * Deletes keys of an identity that are in no list of an API that exists, because the deletion of their API broke off. The audit log leads to
 * them. @returns How many.
 */
export async function deleteUnlisted(
  context: OperationContext,
  identityId: string,
): Promise<number> {
  const isTheirs = (loaded: LoadedRecord | null) => loaded?.record.link === identityId;
  const want = { kind: "auditEntry", of: identityId, limit: READ_AT_ONCE } as const;
  let deleted = 0;
  for await (const page of listPages(context, want)) {
    const entries = decodeAll(auditEntryType, page, context.workspaceId);
    const named = new Set(entries.flatMap(({ keyId }) => keyId ?? []));
    const keys = wantsOf("key", named);
    if (keys.length === 0) continue;
    const { found } = await context.store.read(context.workspaceId, keys);
    const left = keys.filter((_, index) => isTheirs(found[index] ?? null));
    if (left.length === 0) continue;
    deleted += await transact(context, async (work) => {
      const loaded = (await work.transaction.read(left)).filter((one) => one !== null);
      const theirs = loaded.filter(isTheirs);
      for (const one of theirs) {
        const key = decodeOrNull(keyType, one.record, context.workspaceId);
        await deleteEach(work, one, key?.apiId ?? null);
      }
      return theirs.length;
    });
  }
  return deleted;
}
