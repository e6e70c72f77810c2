import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ListScope } from "../../lib/cursor.js";
import { keysOfApi, keyType } from "../../records/key.js";
import { notFound, type OperationContext, requireVault } from "../context.js";
import { cursor, id, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";
import { plaintextErrorOf, resealSecret } from "./recovery.js";

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
 * A secret that does not open, since its ring key is gone or it was tampered with, is left as it is and counted: it must not
 * keep the others from being sealed anew.
 *
 * @returns How many secrets were sealed anew, how many did not open (absent when none); `cursor` when keys follow.
 * @throws LatchkeyError `PRECONDITION_FAILED` without a vault, `NOT_FOUND` for an unknown API.
 */
export async function reencryptKeys(
  context: OperationContext,
  input: z.input<typeof reencryptKeysInput>,
): Promise<{ readonly reencrypted: number; readonly unopened?: number } & PageInfo> {
  const { apiId, ...page } = parseInput(reencryptKeysInput, input);
  const vault = requireVault(context);
  const { store, workspaceId } = context;
  const { found } = await store.read(workspaceId, [{ kind: "api", id: apiId }]);
  if (found[0] === null) throw notFound("API");
  const scope: ListScope = { list: "keys", ownerId: apiId };
  const { items, info } = await readPage(context, keyType, keysOfApi(apiId), scope, page);
  let [reencrypted, unopened] = [0, 0];
  for (const { value: key } of items) {
    if (key.sealedSecret === null || vault.isCurrent(key.sealedSecret)) continue;
    const outcome = await tryReseal(context, key.id);
    if (outcome === "sealed") reencrypted += 1;
    if (outcome === "unopened") unopened += 1;
  }
  return { reencrypted, ...(unopened > 0 && { unopened }), ...info };
}

async function tryReseal(
  context: OperationContext,
  keyId: string,
): Promise<"sealed" | "left" | "unopened"> {
  try {
    return (await resealSecret(context, keyId)) ? "sealed" : "left";
  } catch (error) {
    // A key that was deleted meanwhile has nothing to seal any more.
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return "left";
    if (plaintextErrorOf(error) !== null) return "unopened";
    throw error;
  }
}
