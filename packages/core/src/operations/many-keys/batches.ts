import { yieldToEventLoop } from "../../lib/promises.js";
import { keysOfApi, keyType } from "../../records/key.js";
import type { LoadedRecord } from "../../store/key-store.js";
import { afterWriting, type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { deleteInBatches } from "../delete-in-batches.js";
import { apiIds } from "../read.js";

/** Keys per step: few, because verifications wait meanwhile, and on Redis a step blocks all others. */
const BATCH_SIZE = 20;

/** Lists of keys looked into before other calls get through: with many APIs, an owner has keys in few of them. */
const LISTS_AT_ONCE = 50;

const OUTCOMES = ["changed", "unchanged", "damaged"] as const;

/** The outcome for one key in a step. */
export type KeyOutcome = (typeof OUTCOMES)[number];

/** What a step does with one key, if the key is unchanged since it was read. `apiId`: the API in whose list the key is; null if unknown. */
export type ActOnKey = (
  work: Work,
  loaded: LoadedRecord,
  apiId: string | null,
) => KeyOutcome | Promise<KeyOutcome>;

/** How many keys had each outcome. */
export type KeyCounts = Readonly<Record<KeyOutcome, number>>;

export const NONE: KeyCounts = { changed: 0, unchanged: 0, damaged: 0 };

/** The keys of an API, or those of one identity in it, up to the last one at the start. */
interface ListOfKeys {
  readonly apiId: string;
  readonly identityId: string | undefined;
  readonly lastId: string;
}

/** The keys of an API, of an identity, or of an identity in an API. */
export interface ListedKeys {
  readonly apiId?: string | undefined;
  readonly identityId?: string | undefined;
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
  act: ActOnKey,
): Promise<KeyCounts> {
  const lists = keyLists(context, listed);
  let list = (await lists.next()).value;
  let after: string | null = null;
  const counts = await inBatches(context, async (round, limit) => {
    if (list === undefined) return { counts: NONE, hasMore: false };
    const here: ListOfKeys = list;
    const { counts: stepCounts, lastSeen } = await transact(round, (work) =>
      actOnPage(work, here, after, limit, act),
    );
    after = lastSeen;
    if (lastSeen === null) list = (await lists.next()).value;
    return { counts: stepCounts, hasMore: list !== undefined };
  });
  // An empty commit: that there are no keys, or no others, was only read.
  await afterWriting(() => transact(context, async () => undefined));
  return counts;
}

/** Acts on the keys with these ids, ignoring missing ones. */
export async function actOnKeysById(
  context: OperationContext,
  keyIds: readonly string[],
  act: ActOnKey,
): Promise<KeyCounts> {
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

async function* keyLists(
  context: OperationContext,
  { apiId, identityId }: ListedKeys,
): AsyncGenerator<ListOfKeys, undefined, undefined> {
  const { store, workspaceId } = context;
  let looked = 0;
  for await (const id of apiId === undefined ? apiIds(context) : [apiId]) {
    if (looked > 0 && looked % LISTS_AT_ONCE === 0) await yieldToEventLoop();
    looked += 1;
    const want = {
      kind: "key",
      list: keysOfApi(id),
      of: identityId,
      after: null,
      limit: 1,
    } as const;
    const { found } = await store.page(workspaceId, { ...want, descending: true });
    const [last] = found;
    if (last !== undefined) yield { apiId: id, identityId, lastId: last.record.id };
  }
}

async function actOnPage(
  work: Work,
  { apiId, identityId, lastId }: ListOfKeys,
  after: string | null,
  limit: number,
  act: ActOnKey,
): Promise<{ counts: KeyCounts; lastSeen: string | null }> {
  const { context, transaction } = work;
  const { workspaceId } = context;
  const page = await context.store.page(workspaceId, {
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
      const next = decodeOrNull(keyType, loaded.record, workspaceId)?.rotatedTo ?? null;
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
  const { workspaceId } = transaction;
  const read = (kind: "key" | "api", ids: readonly string[]) =>
    transaction.read(ids.map((id) => ({ kind, id, expects: "nothing" }) as const));
  const keys = (await read("key", keyIds)).filter((loaded) => loaded !== null);
  const named = keys.map(({ record }) => decodeOrNull(keyType, record, workspaceId)?.apiId);
  const wanted = [...new Set(named.filter((id) => id !== undefined))];
  const known = new Set((await read("api", wanted)).map((api) => api?.record.id));
  const counts: Record<KeyOutcome, number> = { ...NONE };
  for (const [index, loaded] of keys.entries()) {
    const apiId = named[index];
    // A record that names a missing API may be in the list of another one.
    const home = apiId !== undefined && known.has(apiId) ? apiId : null;
    counts[await act(work, loaded, home)] += 1;
  }
  return counts;
}
