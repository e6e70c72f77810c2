import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ListScope } from "../../lib/cursor.js";
import { keysOfApi } from "../../records/key.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { afterCursor, notFound, type OperationContext } from "../context.js";
import type { PageInput } from "../input.js";
import { cursor, externalId, flag, id, pageLimit, parseInput } from "../input.js";
import { type PageInfo, pageInfo } from "../read-page.js";
import { loadKeys } from "./load.js";
import { withPlaintextOrError } from "./recovery.js";
import { type KeyView, toKeyView, toStored } from "./view.js";

/** Input of listKeys. */
export interface ListKeysInput extends PageInput {
  /** Id of the API. */
  readonly apiId: string;
  /** Deprecated name of `externalId`, which wins. */
  readonly ownerId?: string | undefined;
  /** Only keys of this user: your own id, 1 to 255 characters. */
  readonly externalId?: string | undefined;
  /** Whether secrets of recoverable keys are answered, too: false unless given. Needs a vault. */
  readonly decrypt?: boolean | null | undefined;
  /** Accepted for older clients, without effect: every read is fresh. */
  readonly revalidateKeysCache?: boolean | null | undefined;
}

/** Schema of the input of listKeys. */
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
export interface KeyList<Types extends LatchkeyTypes = DefaultTypes> extends PageInfo {
  /** In the order of their creation. */
  readonly keys: readonly KeyView<Types>[];
  /** Exact number of live keys of the API, whatever the filter. */
  readonly total: number;
}

/** What listKeys answers within this process alone: it cannot be asked for over HTTP. */
export interface ListKeysScope {
  /** Whether each key has `stored`, with its hash: false unless given. */
  readonly forExport?: boolean | undefined;
}

/** @see KeyOperations.listKeys */
export async function listKeys(
  context: OperationContext,
  input: ListKeysInput,
  { forExport }: ListKeysScope = {},
): Promise<KeyList> {
  const { apiId, limit, decrypt, ...filter } = parseInput(listKeysInput, input);
  const { store, workspaceId } = context;
  const scope: ListScope = { list: "keys", ownerId: apiId };
  const after = afterCursor(scope, filter.cursor);
  const list = keysOfApi(apiId);
  const readKeys = (of: string | undefined) =>
    loadKeys(
      context,
      () => store.page(workspaceId, { kind: "key", list, of, after, limit }),
      ({ found }) => found,
    );
  const externalId = filter.externalId ?? filter.ownerId;
  const checking = checkApiAndFindIdentity(context, apiId, externalId);
  // Both at once where the page is not that of an identity.
  const reading = externalId === undefined ? readKeys(undefined) : checking.then(readKeys);
  const [{ result, keys }] = await Promise.all([reading, checking]);
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
