import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ListScope } from "../../lib/cursor.js";
import { keysOfApi, keyType } from "../../records/key.js";
import type { LoadedRecord } from "../../store/key-store.js";
import { afterCursor, notFound, type OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import {
  externalId,
  flag,
  id,
  keyReference,
  pageFields,
  parseInput,
  presentedSecret,
} from "../input.js";
import { pageInfo } from "../read.js";
import type { Run, TableOf } from "../run.js";
import type { SecretOperations } from "../verify-key/operations.js";
import { findKeyBySecret, getKeyById, loadKeys } from "./load.js";
import type { KeyOperations } from "./operations.js";
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

const whoamiInput = z.strictObject({ key: presentedSecret });

/** An id that no identity has stands for an unknown `externalId`: an empty list, with the real total. */
const NO_IDENTITY = "id_none";

const getKey: Run<KeyOperations["getKey"]> = async (context, input) => {
  const { keyId, decrypt } = parseInput(getKeyInput, input);
  const loaded = await getKeyById(context, keyId);
  const view = toKeyView(loaded, context.now());
  return decrypt === true ? withPlaintext(context, loaded, view) : view;
};

const findApiOfKey: Run<KeyOperations["findApiOfKey"]> = async (context, input) => {
  const { store, workspaceId } = context;
  const { keyId } = parseInput(keyReference, input);
  const { found } = await store.read(workspaceId, [{ kind: "key", id: keyId }]);
  const [loaded = null] = found;
  return loaded && (decodeOrNull(keyType, loaded.record, workspaceId)?.apiId ?? null);
};

const whoami: Run<SecretOperations["whoami"]> = async (context, input) => {
  const { key: secret } = parseInput(whoamiInput, input);
  const loaded = await findKeyBySecret(context, secret);
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
};

const listKeys: Run<KeyOperations["listKeys"]> = async (context, input, { forExport } = {}) => {
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
};

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

/** How the operations run that read keys. */
export const READ_KEYS_TABLE = {
  getKey: { run: getKey, input: getKeyInput },
  findApiOfKey: { run: findApiOfKey, input: keyReference },
  listKeys: { run: listKeys, input: listKeysInput },
  whoami: { run: whoami, input: whoamiInput },
} satisfies Partial<TableOf<KeyOperations & SecretOperations>>;
