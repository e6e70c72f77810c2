import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ListScope } from "../../lib/cursor.js";
import { keysOfApi, keyType } from "../../records/key.js";
import { notFound, type OperationContext, requireVault } from "../context.js";
import type { PageInput } from "../input.js";
import { cursor, id, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";
import { plaintextErrorOf, resealSecret } from "./recovery.js";

/** Input of reencryptKeys. `limit` is how many keys are looked at. */
export interface ReencryptKeysInput extends PageInput {
  /** Id of the API. */
  readonly apiId: string;
}

/** Schema of the input of reencryptKeys. */
export const reencryptKeysInput = z.strictObject({
  apiId: id,
  limit: pageLimit,
  cursor: cursor.optional(),
});

/** What became of a page of recoverable secrets. `cursor`: keys follow. */
export interface Reencrypted extends PageInfo {
  /** Secrets that were sealed anew. */
  readonly reencrypted: number;
  /** Secrets that did not open; absent when none. */
  readonly unopened?: number;
}

/** @see KeyOperations.reencryptKeys */
export async function reencryptKeys(
  context: OperationContext,
  input: ReencryptKeysInput,
): Promise<Reencrypted> {
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
