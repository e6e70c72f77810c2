import { z } from "zod";
import { type LatchkeyError, unavailable } from "../../errors.js";
import { lowestIdAt } from "../../lib/id.js";
import { type KeyRecord, keysOfApi, keyType } from "../../records/key.js";
import type { StoredRecord } from "../../records/record-type.js";
import { afterWriting } from "../../store/after-writing.js";
import type { LoadedRecord, Want } from "../../store/key-store.js";
import {
  confirmReads,
  findDurably,
  notFound,
  type OperationContext,
  transact,
  type Work,
} from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { deleteInBatches } from "../delete-in-batches.js";
import { EITHER_ID, hasEitherId, identityIds, identityWant } from "../identities/reference.js";
import { evenWithIssues, id, list, refuseField } from "../input.js";
import { deleteListed } from "../keys/delete-key.js";
import { isSwitchedOff, switchKey, switchOffDamaged } from "../keys/update-key.js";
import { operation, type TableOf } from "../operation.js";
import { existingApis, findRecord, readList, wantsOf } from "../read.js";
import { type Bounds, hasLeft, keyLists, type ListedKeys, type ListOfKeys } from "./key-lists.js";
import type { KeysReference, ManyKeysOperations } from "./operations.js";

/** Keys per step: few, because verifications wait meanwhile, and on Redis a step blocks all others. */
const BATCH_SIZE = 20;

const OUTCOMES = ["changed", "unchanged", "damaged"] as const;

export type KeyOutcome = (typeof OUTCOMES)[number];

/** What a step does with one key, if the key is unchanged since it was read. `apiId`: the API in whose list the key is; null if unknown. */
export type ActOnKey = (
  work: Work,
  loaded: LoadedRecord,
  apiId: string | null,
) => KeyOutcome | Promise<KeyOutcome>;

export type KeyCounts = Readonly<Record<KeyOutcome, number>>;

const NONE: KeyCounts = { changed: 0, unchanged: 0, damaged: 0 };

export interface ChangeOfKeys {
  readonly act: ActOnKey;
  /**
   * Whether a key still has to be changed. With it, the keys are looked at once more at the end: if the store failed over meanwhile, keys
   * may be there again that another call had deleted. Null for changes that revoke nothing.
   */
  readonly isLeft: ((context: OperationContext, record: StoredRecord) => boolean) | null;
}

/**
 * Acts on the keys of an API, of an identity, or of an identity in an API, in ascending order of their ids: on each key that existed at the
 * start, and on its successors by rotation meanwhile. Keys that are created meanwhile do not prolong it.
 *
 * @see packages/core/decisions/0040-many-keys-in-bounded-steps.md
 */
export async function actOnListedKeys(
  context: OperationContext,
  listed: ListedKeys,
  { act, isLeft }: ChangeOfKeys,
): Promise<KeyCounts> {
  // Not just the last key that is there: a key that is gone now may be there again.
  const bounds: Bounds = { least: lowestIdAt("key", context.now() + 1), byApi: new Map() };
  let lists = keyLists(context, listed, bounds);
  let list = (await lists.next()).value;
  let after: string | null = null;
  let looks = 0;
  /** Ends the call, or begins again with the first list. */
  const hasMore = async (): Promise<boolean> => {
    // That there are no keys, or no others, was only read.
    await confirmReads(context);
    if (isLeft === null || !(await hasLeft(context, listed, bounds, isLeft))) return false;
    looks += 1;
    if (looks === MOST_ROUNDS) throw keptChanging();
    lists = keyLists(context, listed, bounds);
    list = (await lists.next()).value;
    return true;
  };
  return inBatches(context, async (round, limit) => {
    if (list === undefined) return { counts: NONE, hasMore: await afterWriting(hasMore) };
    const here: ListOfKeys = list;
    const { counts: stepCounts, lastSeen } = await transact(round, (work) =>
      actOnPage(work, here, after, limit, act),
    );
    after = lastSeen;
    if (lastSeen === null) list = (await lists.next()).value;
    return { counts: stepCounts, hasMore: list !== undefined || (await afterWriting(hasMore)) };
  });
}

/** Acts on the keys with these ids, ignoring missing ones. */
async function actOnKeysById(context: OperationContext, keyIds: readonly string[], act: ActOnKey) {
  const ids = [...new Set(keyIds)];
  return inBatches(context, async (round, limit) => {
    const answer = await transact(round, async (work) => {
      const wanted = ids.slice(0, work.transaction.isRetry ? 1 : limit);
      return { wanted, counts: await actOnIds(work, wanted, act) };
    });
    ids.splice(0, answer.wanted.length);
    return { counts: answer.counts, hasMore: ids.length > 0 };
  });
}

/** Repeats a step until none is left, and adds up the results; `changed` includes the changes of earlier calls that this one repeats. */
async function inBatches(
  context: OperationContext,
  step: (
    round: OperationContext,
    limit: number,
  ) => Promise<{ counts: KeyCounts; hasMore: boolean }>,
): Promise<KeyCounts> {
  const sums: Record<KeyOutcome, number> = { ...NONE };
  const { deleted: changed } = await deleteInBatches(
    context,
    BATCH_SIZE,
    async (round, limit) => {
      const { counts, hasMore } = await step(round, limit);
      for (const outcome of OUTCOMES) sums[outcome] += counts[outcome];
      return { deleted: counts.changed, hasMore };
    },
    ({ counts }: { readonly counts: KeyCounts }) => counts.changed,
  );
  return { ...sums, changed };
}

async function actOnPage(
  work: Work,
  { apiId, identityId, lastId }: ListOfKeys,
  after: string | null,
  limit: number,
  act: ActOnKey,
): Promise<{ counts: KeyCounts; lastSeen: string | null }> {
  const { context, transaction } = work;
  const page = await readList(context, {
    kind: "key",
    list: keysOfApi(apiId),
    of: identityId,
    after,
    // A single key hardly ever changes between its read and its write.
    limit: transaction.isRetry ? 1 : limit,
  });
  const found = page.found.filter(({ record }) => record.id <= lastId);
  const seen = new Set(found.map(({ record }) => record.id));
  const counts: Record<KeyOutcome, number> = { ...NONE };
  for (const each of found)
    for (let loaded: LoadedRecord | null = each; loaded !== null; ) {
      const { id, link } = loaded.record;
      // The owner may have changed: the list was read a moment before the record.
      if (identityId !== undefined && link !== identityId) break;
      const next = decodeOrNull(keyType, loaded.record, work.context)?.rotatedTo ?? null;
      counts[await act(work, loaded, apiId)] += 1;
      // A successor between this key and `lastId` is reached anyway. One created meanwhile may lie outside: after `lastId`, or before this
      // key if a clock differs.
      if (next === null || seen.has(next) || (next > id && next <= lastId)) break;
      seen.add(next);
      loaded = await transaction.readOne({ kind: "key", id: next, expects: "nothing" });
    }
  const last = found.at(-1)?.record.id;
  const isOver = !page.hasMore || last === undefined || found.length < page.found.length;
  return { counts, lastSeen: isOver ? null : last };
}

async function actOnIds(work: Work, keyIds: readonly string[], act: ActOnKey): Promise<KeyCounts> {
  const { transaction } = work;
  const loadedOrNot = await transaction.read(wantsOf("key", keyIds));
  // If the store fails over, a key may be there again.
  for (const [place, id] of keyIds.entries())
    if (loadedOrNot[place] === null) transaction.expectAbsent({ kind: "key", id });
  const keys = loadedOrNot.filter((loaded) => loaded !== null);
  const named = keys.map(({ record }) => decodeOrNull(keyType, record, transaction)?.apiId);
  const apiIds = new Set(named.filter((id) => id !== undefined));
  const known = await existingApis(transaction, apiIds);
  const counts: Record<KeyOutcome, number> = { ...NONE };
  for (const [index, loaded] of keys.entries()) {
    const apiId = named[index];
    // A record that names a missing API may be in the list of another one.
    const home = apiId !== undefined && known.has(apiId) ? apiId : null;
    counts[await act(work, loaded, home)] += 1;
  }
  return counts;
}

const MAX_KEY_IDS = 1_000;

/** Most rounds of looking for keys. A rotation at that moment adds one round; a store that loses writes would add any number. */
const MOST_ROUNDS = 100;

const keysReference = z
  .strictObject({
    apiId: id.optional(),
    ...identityIds,
    keyIds: list(id, MAX_KEY_IDS, "ids").optional(),
  })
  // Returns a boolean, never the value itself, which may be a promise.
  .refine((which) => which.apiId != null || which.keyIds != null || hasEitherId(which), {
    ...EITHER_ID,
    path: ["apiId"],
    error: "is required if none of externalId, identityId and keyIds is given",
  })
  .refine(
    (which) => which.keyIds === undefined || (which.apiId === undefined && !hasEitherId(which)),
    {
      ...evenWithIssues,
      path: ["keyIds"],
      error: "must be given without apiId, externalId and identityId",
    },
  )
  // If undefined counted as absent, the call would change every key that the other fields name.
  .superRefine((which, sink) => {
    for (const [name, value] of Object.entries(which))
      if (value === undefined)
        refuseField(
          sink,
          name,
          "must not be undefined: if it were omitted, the call would apply to more keys",
        );
  });

export const MANY_KEYS_TABLE = {
  deleteKeys: operation(keysReference, async (context, which) => ({
    deletedKeys: (await actOnKeys(context, which, DELETION)).changed,
  })),

  disableKeys: operation(keysReference, async (context, which) => ({
    disabledKeys: (await actOnKeys(context, which, DISABLING)).changed,
  })),

  enableKeys: operation(keysReference, async (context, which) => {
    const { changed, damaged } = await actOnKeys(context, which, ENABLING);
    return { enabledKeys: changed, ...(damaged > 0 && { damaged }) };
  }),
} satisfies Partial<TableOf<ManyKeysOperations>>;

async function actOnKeys(
  context: OperationContext,
  { apiId, keyIds, ...owner }: KeysReference,
  change: ChangeOfKeys,
): Promise<KeyCounts> {
  if (keyIds !== undefined) return actOnKeysById(context, keyIds, change.act);
  const find = (want: Want) => findDurably(context, () => findRecord(context, want));
  if (apiId !== undefined && (await find({ kind: "api", id: apiId })) === null)
    throw notFound("api");
  let { identityId } = owner;
  if (identityId === undefined && owner.externalId !== undefined) {
    const found = await find(identityWant(owner));
    if (found === null) return NONE;
    identityId = found.record.id;
  }
  return actOnListedKeys(context, { apiId, identityId }, change);
}

/** Acts until no key of a deleted API or identity needs a change: only rotation can add keys. @returns How many were changed. */
export async function actOnEveryKey(
  context: OperationContext,
  listed: ListedKeys,
  change: ChangeOfKeys,
): Promise<number> {
  let total = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const run = () => actOnListedKeys(context, listed, change);
    const { changed } = await afterWriting(run, total > 0);
    total += changed;
    if (changed === 0) return total;
  }
  throw keptChanging();
}

function keptChanging(): LatchkeyError {
  return unavailable("keys kept being created or changed; try again", "unknown");
}

/** Deletes a key, readable or not. The audit log records only its API and its identity. */
export const deleteEach: ActOnKey = async (work, loaded, apiId): Promise<KeyOutcome> => {
  const { context, transaction, audit } = work;
  const { record } = loaded;
  const { id: keyId, link: identityId } = record;
  transaction.expectFound(loaded);
  const key = decodeOrNull(keyType, record, context);
  await deleteListed(work, record, key, apiId);
  const before = { apiId: apiId ?? key?.apiId };
  audit({ type: "key.deleted", resourceId: keyId, identityId, unreadable: key === null, before });
  return "changed";
};

/** Whether a key is off. `key`: null if its record is damaged. */
function isOff(record: StoredRecord, key: KeyRecord | null): boolean {
  return key === null ? isSwitchedOff(record) : !key.enabled;
}

/** Switches a key off, readable or not. */
const disableEach: ActOnKey = (work, loaded) => {
  const { context, transaction } = work;
  const { record } = loaded;
  const key = decodeOrNull(keyType, record, context);
  // Also of a key that is off: if the store fails over, it may be on again.
  transaction.expectFound(loaded);
  if (isOff(record, key)) return "unchanged";
  if (key === null) switchOffDamaged(work, record);
  else switchKey(work, key, false);
  return "changed";
};

const enableEach: ActOnKey = (work, loaded) => {
  const key = decodeOrNull(keyType, loaded.record, work.context);
  if (key === null) return "damaged";
  if (key.enabled) return "unchanged";
  work.transaction.expectFound(loaded);
  switchKey(work, key, true);
  return "changed";
};

export const DELETION: ChangeOfKeys = { act: deleteEach, isLeft: () => true };

export const DISABLING: ChangeOfKeys = {
  act: disableEach,
  isLeft: (context, record) => !isOff(record, decodeOrNull(keyType, record, context)),
};

const ENABLING: ChangeOfKeys = { act: enableEach, isLeft: null };
