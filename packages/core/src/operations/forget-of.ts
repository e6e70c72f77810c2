import type { RecordType } from "../records/record-type.js";
import { type OperationContext, transact } from "./context.js";
import { decodeOrNull } from "./damaged.js";
import { deleteInBatches } from "./delete-in-batches.js";

/** Records deleted in one step: some milliseconds on every store. */
const AT_ONCE = 200;

/**
 * Deletes all records in the small list that an identity has beside a list, also damaged ones.
 *
 * @returns How many there were.
 */
export async function forgetOf<Value>(
  context: OperationContext,
  type: RecordType<Value>,
  list: string,
  identityId: string,
): Promise<{ readonly deleted: number }> {
  const { store, workspaceId } = context;
  const { kind } = type;
  const lists = [{ list }, { list, of: identityId }];
  return deleteInBatches(context, AT_ONCE, (round, limit) =>
    transact(round, async ({ transaction }) => {
      const want = { kind, list, of: identityId, after: null, limit } as const;
      const { found, hasMore } = await store.page(workspaceId, want);
      for (const { record, handle } of found) {
        const { id } = record;
        transaction.expect({ kind, id, version: "exists", handle });
        const known = decodeOrNull(type, record, workspaceId);
        if (known === null) transaction.deleteAddress({ kind, id }, [], lists);
        else transaction.delete(type, known);
      }
      return { deleted: found.length, hasMore };
    }),
  );
}
