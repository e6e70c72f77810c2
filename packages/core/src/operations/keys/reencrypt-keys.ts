import { z } from "zod";
import { encodeCursor, type ListScope } from "../../lib/cursor.js";
import { afterCursor, notFound, type OperationContext, requireVault } from "../context.js";
import { cursor, id, pageLimit, parseInput } from "../input.js";
import { resealSecret } from "./recovery.js";

/** Input of reencryptKeys: one API, a page at a time (`limit` keys looked at, 1 to 100, 100 unless given). */
export const reencryptKeysInput = z.strictObject({
  apiId: id,
  limit: pageLimit,
  cursor: cursor.optional(),
});

/**
 * Seals the secrets of recoverable keys with the vault's current key, a page of an API's keys at a time: call it with
 * each answered `cursor` until none comes back, then drop the old key from the ring. Safe beside traffic, and safe to
 * repeat: a secret that is sealed with the current key already is left alone.
 *
 * @returns How many secrets were sealed anew; `cursor` when keys follow.
 * @throws LatchkeyError `PRECONDITION_FAILED` without a vault, `NOT_FOUND` for an unknown API.
 */
export async function reencryptKeys(
  context: OperationContext,
  input: z.input<typeof reencryptKeysInput>,
): Promise<{ readonly reencrypted: number; readonly cursor?: string }> {
  const parsed = parseInput(reencryptKeysInput, input);
  const vault = requireVault(context);
  const { store, workspaceId } = context;
  const scope: ListScope = { list: "keys", ownerId: parsed.apiId };
  const afterId = afterCursor(scope, parsed.cursor);
  if ((await store.getApi(workspaceId, parsed.apiId)) === null) throw notFound("API");
  const page = await store.listKeys(
    workspaceId,
    parsed.apiId,
    { identityId: null },
    { afterId, limit: parsed.limit },
  );
  let reencrypted = 0;
  for (const { key } of page.items) {
    const isOutdated = key.sealedSecret !== null && !vault.isCurrent(key.sealedSecret);
    if (isOutdated && (await resealSecret(context, key.id))) reencrypted += 1;
  }
  const last = page.items.at(-1);
  return {
    reencrypted,
    ...(page.hasMore && last !== undefined && { cursor: encodeCursor(scope, last.key.id) }),
  };
}
