import { corruptRecord, LatchkeyError, unavailable } from "../../errors.js";
import { isThenable } from "../../lib/promises.js";
import { keysOfApi, keyType } from "../../records/key.js";
import { canBeSecret } from "../../secrets/format.js";
import type { KeyStore, LoadedRecord, Want } from "../../store/key-store.js";
import { StaleReadError, type Transaction } from "../../store/transaction.js";
import type { CatalogKey, LoadedKey } from "../../verification/loaded-key.js";
import type { NoKey } from "../../verification/verdict.js";
import { notFound, type OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { findRecord, MAX_ROUNDS, untilSteady, wantsOf } from "../read.js";

const KEPT_CHANGING = "records that the key refers to kept changing while it was read";

type KeyContext = Pick<OperationContext, "store" | "catalog" | "workspaceId">;

type TransactionContext = KeyContext & Pick<OperationContext, "confinedTo">;

/** Reads records of keys until all are of one revision, and assembles the keys. `read`: returns undefined if they are not. */
export async function loadKeys<Result extends { readonly revision: number }>(
  { catalog, workspaceId }: KeyContext,
  read: () => Promise<Result | undefined>,
  recordsOf: (result: Result) => readonly LoadedRecord[],
): Promise<{ readonly result: Result; readonly keys: readonly CatalogKey[] }> {
  return untilSteady(KEPT_CHANGING, async () => {
    const result = await read();
    if (result === undefined) return undefined;
    const keys = await catalog.loadKeys(workspaceId, result.revision, recordsOf(result));
    return keys === null ? undefined : { result, keys };
  });
}

/** The first key that a want finds, or the revision at which there was none. @throws LatchkeyError `STORE_CORRUPT` if it is damaged. */
async function findKey(
  { store, catalog, workspaceId }: KeyContext,
  wants: readonly Want[],
): Promise<LoadedKey | number> {
  // Not by untilSteady: that would make a cold verification in memory 6 % slower.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { revision, found } = await store.read(workspaceId, wants);
    const first = found.find((loaded) => loaded !== null);
    if (first === undefined || first === null) return revision;
    const loading = catalog.loadKeys(workspaceId, revision, [first]);
    // Not `instanceof Promise`: zone.js, for one, puts a Promise of its own in its place.
    const keys = isThenable(loading) ? await loading : loading;
    if (keys === null) continue;
    const [key = null] = keys;
    if (key instanceof LatchkeyError) throw key;
    return key ?? revision;
  }
  throw unavailable(KEPT_CHANGING);
}

/** The key of a secret; without one, why there is none. A text that cannot be a secret costs no store call. */
export async function findKeyBySecret(
  context: KeyContext & Pick<OperationContext, "hasher">,
  secret: string,
  hashes?: readonly string[],
): Promise<LoadedKey | NoKey> {
  if (!canBeSecret(secret)) return "NOT_FOUND";
  const wanted = hashes ?? context.hasher.candidates(secret);
  const wants = wanted.map((hash): Want => ({ kind: "key", index: "hash", value: hash }));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = await findKey(context, wants);
    if (typeof found !== "number") return found;
    const isDisabled = await context.catalog.isWorkspaceDisabled(context.workspaceId, found);
    if (isDisabled !== null) return isDisabled ? "FORBIDDEN" : "NOT_FOUND";
  }
  throw unavailable(KEPT_CHANGING);
}

/** The verdict on a secret if the caller must not see its key: the same as for an unknown secret. */
export async function noKeyVerdict({ store, catalog, workspaceId }: KeyContext): Promise<NoKey> {
  return untilSteady(KEPT_CHANGING, async () => {
    const { revision } = await store.read(workspaceId, []);
    const isDisabled = await catalog.isWorkspaceDisabled(workspaceId, revision);
    if (isDisabled === null) return undefined;
    return isDisabled ? "FORBIDDEN" : "NOT_FOUND";
  });
}

/** The key with this id. @throws LatchkeyError `NOT_FOUND`, and like {@link findKey}. */
export async function getKeyById(context: KeyContext, keyId: string): Promise<LoadedKey> {
  const want: Want = { kind: "key", id: keyId };
  return untilSteady(KEPT_CHANGING, async () => {
    const loaded = await findKey(context, [want]);
    if (typeof loaded !== "number") return loaded;
    const missing = await whyMissing(context, await findRecord(context, want));
    if (missing !== null) throw missing;
    return undefined;
  });
}

/** The id of a key's API; null if there is no such key, or if it is damaged. */
export async function findApiId(
  context: Pick<KeyContext, "store" | "workspaceId">,
  keyId: string,
): Promise<string | null> {
  const loaded = await findRecord(context, { kind: "key", id: keyId });
  return loaded && (decodeOrNull(keyType, loaded.record, context)?.apiId ?? null);
}

/** Whether a list has the key with this id. `list`: as of `keysOfApi`. */
export async function isKeyInList(
  store: Pick<KeyStore, "page">,
  workspaceId: string,
  list: string,
  id: string,
): Promise<boolean> {
  // The first id going down from this one: no id of a key is a prefix of another.
  const page = { kind: "key", list, after: `${id}!`, limit: 1, descending: true } as const;
  const { found } = await store.page(workspaceId, page);
  return found[0]?.record.id === id;
}

/**
 * The error for a key that could not be assembled because its API is missing. Either the API was deleted, and the key goes with it; or the
 * record is damaged: it names an API other than the one in whose list it is. Only a damaged key must still be revoked. Null: the record was
 * written since, which may have repaired it. `transaction`: the one that read the key; it learns that the API is absent.
 */
async function whyMissing(
  context: KeyContext,
  loaded: LoadedRecord | null,
  transaction?: Transaction,
): Promise<LatchkeyError | null> {
  if (loaded === null) return notFound("key");
  const { store, workspaceId } = context;
  const { id, apiId, version } = keyType.decode(loaded.record, workspaceId);
  transaction?.absent.push({ kind: "api", id: apiId });
  const list = keysOfApi(apiId);
  if (await isKeyInList(store, workspaceId, list, id)) return notFound("key");
  // The key may have been deleted before its list was read.
  const now = await findRecord(context, { kind: "key", id });
  if (now === null) return notFound("key");
  return now.record.version === version ? corruptRecord(`key ${id}`) : null;
}

/** The key with this id, read in a transaction, which then expects this version of it. Throws like {@link getKeyById}. */
export async function readKey(
  context: TransactionContext,
  transaction: Transaction,
  keyId: string,
): Promise<LoadedKey> {
  const [read] = await readKeys(context, transaction, [keyId]);
  return loadedOrThrow(read as ReadKey);
}

/** A key that was read in a transaction: the stored record or null, and the key or the error of {@link getKeyById}. */
export interface ReadKey {
  readonly stored: LoadedRecord | null;
  readonly loaded: LoadedKey | LatchkeyError;
}

/** The keys with these ids, in order, at versions that the transaction expects. A confined call finds only keys of its session. */
export async function readKeys(
  context: TransactionContext,
  transaction: Transaction,
  keyIds: readonly string[],
): Promise<readonly ReadKey[]> {
  const { catalog, workspaceId, confinedTo } = context;
  const isHidden = (stored: LoadedRecord | null) =>
    confinedTo !== null && stored?.record.link !== confinedTo.identityId;
  const all = await transaction.read(wantsOf("key", keyIds));
  const found = all.map((stored) => (isHidden(stored) ? null : stored));
  const present = found.filter((stored) => stored !== null);
  for (const stored of present) transaction.expectFound(stored);
  const keys = await catalog.loadKeys(workspaceId, transaction.revision, present);
  if (keys === null) throw new StaleReadError();
  const loaded = keys.values();
  const read: ReadKey[] = [];
  for (const stored of found) {
    const key = stored === null ? null : (loaded.next().value ?? null);
    const isElsewhere =
      confinedTo !== null &&
      key !== null &&
      "key" in key &&
      !confinedTo.apiIds.includes(key.key.apiId);
    const known = key ?? (await whyMissing(context, stored, transaction));
    if (known === null) throw new StaleReadError();
    if (isElsewhere) read.push({ stored: null, loaded: notFound("key") });
    else read.push({ stored, loaded: known });
  }
  return read;
}

/** @throws LatchkeyError the error that was read in place of the key. */
export function loadedOrThrow({ loaded }: ReadKey): LoadedKey {
  if (loaded instanceof LatchkeyError) throw loaded;
  return loaded;
}
