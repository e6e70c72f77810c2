import { lowestIdAt } from "../../lib/id.js";
import { yieldToEventLoop } from "../../lib/promises.js";
import { chainCreatedAt, keysOfApi, keyType } from "../../records/key.js";
import type { StoredRecord } from "../../records/record-type.js";
import type { LoadedRecord } from "../../store/key-store.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { apiIds, readList } from "../read.js";

/** Lists of keys looked into before other calls get through: with many APIs, an owner has keys in few of them. */
const LISTS_AT_ONCE = 50;

/** Keys read at once to see whether any is left. */
const LOOKED_AT_ONCE = 200;

/** The keys of an API, or those of one identity in it, up to the last one that may have existed at the start. */
export interface ListOfKeys {
  readonly apiId: string;
  readonly identityId: string | undefined;
  /** An upper bound of their ids. */
  readonly lastId: string;
}

/** The keys of an API, of an identity, or of an identity in an API. */
export interface ListedKeys {
  readonly apiId?: string | undefined;
  readonly identityId?: string | undefined;
}

/** For each API, up to which id a call acts on its keys. Set when the list is first looked into, so that later keys do not prolong it. */
export interface Bounds {
  /** The lowest id of a later key. A clock that is ahead gives even higher ids. */
  readonly least: string;
  readonly byApi: Map<string, string>;
}

/** The lists with the keys, one for each API. */
export async function* keyLists(
  context: OperationContext,
  { apiId, identityId }: ListedKeys,
  bounds: Bounds,
): AsyncGenerator<ListOfKeys, undefined, undefined> {
  let looked = 0;
  for await (const id of apiId === undefined ? apiIds(context) : [apiId]) {
    if (looked > 0 && looked % LISTS_AT_ONCE === 0) await yieldToEventLoop();
    looked += 1;
    const want = { kind: "key", list: keysOfApi(id), of: identityId, limit: 1 } as const;
    const { found } = await readList(context, { ...want, descending: true });
    const [last] = found;
    if (last === undefined) continue;
    const { least, byApi } = bounds;
    const isAhead = last.record.id > least;
    const lastId = byApi.get(id) ?? (isAhead ? last.record.id : least);
    byApi.set(id, lastId);
    yield { apiId: id, identityId, lastId };
  }
}

/**
 * Whether any of the keys still has to be changed. For a successor that was created meanwhile it raises the bound: the key that was
 * rotated may be deleted or damaged by now, so nothing else leads to it.
 */
export async function hasLeft(
  context: OperationContext,
  listed: ListedKeys,
  bounds: Bounds,
  isLeft: (context: OperationContext, record: StoredRecord) => boolean,
): Promise<boolean> {
  for await (const { apiId, identityId, lastId } of keyLists(context, listed, bounds))
    for (let after: string | null = null; ; ) {
      const where = { list: keysOfApi(apiId), of: identityId, after, limit: LOOKED_AT_ONCE };
      const { found, hasMore } = await readList(context, { kind: "key", ...where });
      const isOne = ({ record }: LoadedRecord): boolean =>
        (record.id <= lastId || succeedsOneUpTo(lastId, context, record)) &&
        (identityId === undefined || record.link === identityId) &&
        isLeft(context, record);
      const left = found.find(isOne)?.record.id;
      if (left !== undefined && left > lastId) bounds.byApi.set(apiId, left);
      if (left !== undefined) return true;
      const last = found.at(-1)?.record.id;
      if (!hasMore || last === undefined) break;
      after = last;
      await yieldToEventLoop();
    }
  return false;
}

/** Whether a key goes back by rotation to one that is not later than a bound. */
function succeedsOneUpTo(lastId: string, context: OperationContext, record: StoredRecord) {
  const key = decodeOrNull(keyType, record, context);
  if (key === null || key.rotatedFrom === null) return false;
  return lowestIdAt("key", chainCreatedAt(key)) <= lastId;
}
