import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ListScope } from "../../lib/cursor.js";
import { keysOfApi } from "../../records/key.js";
import { afterCursor, notFound, type OperationContext } from "../context.js";
import { cursor, externalId, flag, id, pageLimit, parseInput } from "../input.js";
import { type PageInfo, pageInfo } from "../read-page.js";
import { loadKeys } from "./load.js";
import { withPlaintextOrError } from "./recovery.js";
import { type KeyView, toKeyView, toStored } from "./view.js";

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
export interface KeyList extends PageInfo {
  readonly keys: readonly KeyView[];
  /** Exact number of live keys of the API, whatever the filter. */
  readonly total: number;
}

/**
 * Lists the keys of an API, or those of one identity in it; with `stored` for an export, which is never served.
 *
 * @throws LatchkeyError `NOT_FOUND` for an unknown API, `BAD_REQUEST` for a cursor that is damaged or of another list.
 */
export async function listKeys(
  context: OperationContext,
  input: z.input<typeof listKeysInput>,
  { forExport }: { readonly forExport?: boolean } = {},
): Promise<KeyList> {
  const { apiId, limit, decrypt, ...filter } = parseInput(listKeysInput, input);
  const { store, workspaceId } = context;
  const scope: ListScope = { list: "keys", ownerId: apiId };
  const after = afterCursor(scope, filter.cursor);
  const identityId = await checkApiAndFindIdentity(
    context,
    apiId,
    filter.externalId ?? filter.ownerId,
  );
  const { result, keys } = await loadKeys(
    context,
    () =>
      store.page(workspaceId, {
        kind: "key",
        list: keysOfApi(apiId),
        of: identityId,
        after,
        limit,
      }),
    ({ found }) => found,
  );
  const now = context.now();
  const views: KeyView[] = [];
  let damaged = 0;
  for (const loaded of keys) {
    if (loaded === null) continue;
    if (loaded instanceof LatchkeyError) {
      damaged += 1;
      continue;
    }
    const listed = toKeyView(loaded, now);
    const view = forExport ? { ...listed, stored: toStored(loaded) } : listed;
    views.push(decrypt === true ? await withPlaintextOrError(context, loaded, view) : view);
  }
  return { keys: views, total: result.size, ...pageInfo(scope, result, damaged) };
}

/** An id that no identity has stands for an unknown `externalId`: an empty list, with the real total. */
const NO_IDENTITY = "id_none";

/** @returns The identity to filter by, or undefined for none. */
async function checkApiAndFindIdentity(
  { store, workspaceId }: OperationContext,
  apiId: string,
  externalId: string | undefined,
): Promise<string | undefined> {
  const { found } = await store.read(workspaceId, [
    { kind: "api", id: apiId },
    ...(externalId === undefined
      ? []
      : [{ kind: "identity", index: "externalId", value: externalId } as const]),
  ]);
  const [api = null, identity = null] = found;
  if (api === null) throw notFound("API");
  return externalId === undefined ? undefined : (identity?.record.id ?? NO_IDENTITY);
}
