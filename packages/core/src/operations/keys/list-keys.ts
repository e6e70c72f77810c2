import { z } from "zod";
import { encodeCursor, type ListScope } from "../../lib/cursor.js";
import { afterCursor, notFound, type OperationContext } from "../context.js";
import { cursor, externalId, flag, id, pageLimit, parseInput } from "../input.js";
import { withPlaintext } from "./recovery.js";
import { type ListedKey, toListedKey } from "./view.js";

/**
 * Input of listKeys. `limit` 1 to 100, 100 unless given. `ownerId` is a deprecated name of `externalId`, which wins.
 * `decrypt` adds the secrets of recoverable keys. `revalidateKeysCache` is accepted: every read is fresh anyway.
 */
export const listKeysInput = z.strictObject({
  apiId: id,
  limit: pageLimit,
  cursor: cursor.optional(),
  ownerId: externalId.optional(),
  externalId: externalId.optional(),
  decrypt: flag.nullish(),
  revalidateKeysCache: flag.nullish(),
});

/** A page of keys in the order of their creation; without `cursor` it is the last one. */
export interface KeyList {
  readonly keys: readonly ListedKey[];
  /** Exact number of live keys of the API, whatever the filter. */
  readonly total: number;
  readonly cursor?: string;
}

/**
 * Lists the keys of an API, or those of one identity in it.
 *
 * @throws LatchkeyError `NOT_FOUND` for an unknown API, `BAD_REQUEST` for a cursor that is damaged or of another list,
 * `PRECONDITION_FAILED` for `decrypt` without a vault.
 */
export async function listKeys(
  context: OperationContext,
  input: z.input<typeof listKeysInput>,
): Promise<KeyList> {
  const parsed = parseInput(listKeysInput, input);
  const { store, workspaceId } = context;
  const scope: ListScope = { list: "keys", ownerId: parsed.apiId };
  const afterId = afterCursor(scope, parsed.cursor);
  if ((await store.getApi(workspaceId, parsed.apiId)) === null) throw notFound("API");

  const ownerExternalId = parsed.externalId ?? parsed.ownerId;
  const filter =
    ownerExternalId === undefined ? null : await identityIdOf(context, ownerExternalId);
  const page = await store.listKeys(
    workspaceId,
    parsed.apiId,
    { identityId: filter },
    { afterId, limit: parsed.limit },
  );

  const now = context.now();
  const keys: ListedKey[] = [];
  for (const loaded of page.items) {
    const listed = toListedKey(loaded, now);
    keys.push(parsed.decrypt === true ? await withPlaintext(context, loaded, listed) : listed);
  }
  const last = page.items.at(-1);
  return {
    keys,
    total: page.total,
    ...(page.hasMore && last !== undefined && { cursor: encodeCursor(scope, last.key.id) }),
  };
}

/** An id that no identity has stands for an unknown `externalId`: an empty list, with the real total. */
const NO_IDENTITY = "id_none";

async function identityIdOf(
  { store, workspaceId }: OperationContext,
  externalId: string,
): Promise<string> {
  const found = await store.getIdentity(workspaceId, { externalId });
  return found === null ? NO_IDENTITY : found.identity.id;
}
