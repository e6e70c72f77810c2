import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { keysOfApi, keyType } from "../../records/key.js";
import type { LoadedRecord } from "../../store/key-store.js";
import { afterCursor, notFound, type OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { identityWant } from "../identities/reference.js";
import { externalId, flag, id, keyReference, pageFields, presentedSecret } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { pageInfo } from "../read.js";
import type { SecretOperations } from "../verify-key/operations.js";
import { findApiId, findKeyBySecret, getKeyById, loadKeys } from "./load.js";
import type { KeyOperations, ListKeysScope } from "./operations.js";
import { withPlaintext, withPlaintextOrError } from "./recovery.js";
import { type KeyView, toKeyView, toStored } from "./view.js";

const getKeyInput = z.strictObject({ keyId: id, decrypt: flag.nullish() });

const listKeysInput = z.strictObject({
  apiId: id,
  ...pageFields,
  ownerId: externalId.optional(),
  externalId: externalId.optional(),
  decrypt: flag.nullish(),
});

/** An id that no identity has stands for an unknown `externalId`: an empty list, with the real total. */
const NO_IDENTITY = "id_none";

export const READ_KEYS_TABLE = {
  getKey: operation(getKeyInput, async (context, { keyId, decrypt }) => {
    const loaded = await getKeyById(context, keyId);
    const view = toKeyView(loaded, context.now());
    return decrypt === true ? withPlaintext(context, loaded, view) : view;
  }),

  findApiOfKey: operation(keyReference, (context, { keyId }) => findApiId(context, keyId)),

  whoami: operation(z.strictObject({ key: presentedSecret }), async (context, { key }) => {
    const loaded = await findKeyBySecret(context, key);
    if (loaded === null) throw notFound("key");
    const view = toKeyView(loaded, context.now());
    const { id, name, remaining, identity, meta, createdAt, enabled, environment } = view;
    return {
      id,
      ...(name !== undefined && { name }),
      ...(remaining !== undefined && { remaining }),
      ...(identity !== undefined && { identity }),
      ...(meta !== undefined && { meta }),
      createdAt,
      enabled,
      ...(environment !== undefined && { environment }),
    };
  }),

  listKeys: operation(listKeysInput, async (context, input, { forExport }: ListKeysScope = {}) => {
    const { apiId, limit, decrypt } = input;
    const { store, workspaceId } = context;
    const scope = { list: "keys", ownerId: apiId } as const;
    const after = afterCursor(scope, input.cursor);
    const list = keysOfApi(apiId);
    const readKeys = (of: string | undefined) =>
      loadKeys(
        context,
        () => store.page(workspaceId, { kind: "key", list, of, after, limit }),
        ({ found }) => found,
      );
    const externalId = input.externalId ?? input.ownerId;
    const checking = checkApiAndFindIdentity(context, apiId, externalId);
    // Both at once where the page is not that of an identity.
    const reading = externalId === undefined ? readKeys(undefined) : checking.then(readKeys);
    const [{ result, keys }] = await Promise.all([reading, checking]);
    /** The API that a record names: one that was deleted takes its keys along, and another one than that of the list is damage. */
    const apiIdOf = (found: LoadedRecord | undefined) =>
      found && decodeOrNull(keyType, found.record, workspaceId)?.apiId;
    const now = context.now();
    const views: KeyView[] = [];
    let damaged = 0;
    for (const [index, loaded] of keys.entries()) {
      if (loaded === null && apiIdOf(result.found[index]) === apiId) continue;
      if (loaded === null || loaded instanceof LatchkeyError || loaded.key.apiId !== apiId) {
        damaged += 1;
        continue;
      }
      const listed = toKeyView(loaded, now);
      const view = forExport ? { ...listed, stored: toStored(loaded) } : listed;
      views.push(decrypt === true ? await withPlaintextOrError(context, loaded, view) : view);
    }
    return { keys: views, total: result.size, ...pageInfo(scope, result, damaged) };
  }),
} satisfies Partial<TableOf<KeyOperations & SecretOperations>>;

/** @returns The identity to filter by, or undefined for none. */
async function checkApiAndFindIdentity(
  { store, workspaceId }: OperationContext,
  apiId: string,
  externalId: string | undefined,
): Promise<string | undefined> {
  const { found } = await store.read(workspaceId, [
    { kind: "api", id: apiId },
    ...(externalId === undefined ? [] : [identityWant({ externalId })]),
  ]);
  const [api = null, identity = null] = found;
  if (api === null) throw notFound("API");
  return externalId === undefined ? undefined : (identity?.record.id ?? NO_IDENTITY);
}
