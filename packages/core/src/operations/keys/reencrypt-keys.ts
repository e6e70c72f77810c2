import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ListScope } from "../../lib/cursor.js";
import { keysOfApi, keyType } from "../../records/key.js";
import { notFound, type OperationContext, requireVault } from "../context.js";
import { cursor, id, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";
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
): Promise<{ readonly reencrypted: number } & PageInfo> {
  const { apiId, ...page } = parseInput(reencryptKeysInput, input);
  const vault = requireVault(context);
  const { store, workspaceId } = context;
  const { found } = await store.read(workspaceId, [{ kind: "api", id: apiId }]);
  if (found[0] === null) throw notFound("API");
  const scope: ListScope = { list: "keys", ownerId: apiId };
  const { items, info } = await readPage(context, keyType, keysOfApi(apiId), scope, page);
  let reencrypted = 0;
  for (const { value: key } of items) {
    const isOutdated = key.sealedSecret !== null && !vault.isCurrent(key.sealedSecret);
    if (isOutdated && (await resealIfThere(context, key.id))) reencrypted += 1;
  }
  return { reencrypted, ...info };
}

/** A key that was deleted meanwhile has nothing to seal any more. */
async function resealIfThere(context: OperationContext, keyId: string): Promise<boolean> {
  try {
    return await resealSecret(context, keyId);
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return false;
    throw error;
  }
}
