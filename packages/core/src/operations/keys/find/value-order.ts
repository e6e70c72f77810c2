import { type LatchkeyError, unmet } from "../../../errors.js";
import { comparePlaces, type KeyPlace, type ValueOrder } from "../../../rules/keys/order.js";
import {
  apisOf,
  type FoundPage,
  listsWant,
  MAX_READ,
  type PageWant,
  wantedBy,
} from "./found-page.js";
import { KeyLists, type ReadKey } from "./key-lists.js";

/** A page in another order than that of creation: all keys are read for each, and sorted. Its position is the {@link KeyPlace} of the last key. */
export async function pageInValueOrder(want: PageWant, orderBy: ValueOrder): Promise<FoundPage> {
  const { limit, position, question } = want;
  const [value, id = ""] = position ?? [];
  const after = position === null ? null : { value: value ? Number(value) : null, id };
  const read = await readAllKeys(want);
  const sign = question.descending ? -1 : 1;
  const compare = (one: KeyPlace, other: KeyPlace) => sign * comparePlaces(orderBy, one, other);
  const following = read
    .map(({ loaded }) => loaded)
    .filter(wantedBy(want))
    .map((loaded) => {
      const { key, lastUsedAt } = loaded;
      return { loaded, id: key.id, value: orderBy === "expires" ? key.expires : lastUsedAt };
    })
    .filter((place) => after === null || compare(place, after) > 0)
    .sort(compare);
  const page = following.slice(0, limit);
  const last = following.length > limit ? page.at(-1) : undefined;
  return {
    keys: page.map(({ loaded }) => loaded),
    // Damaged keys have no value, and so no place: all of them count with the first page.
    damaged: after === null ? read.filter(({ loaded }) => loaded === "damaged").length : 0,
    scanned: read.length,
    size: read.length,
    next: last === undefined ? null : [`${last.value ?? ""}`, last.id],
  };
}

/** All keys of an API or owner. @throws LatchkeyError `PRECONDITION_FAILED` where they are too many. */
async function readAllKeys(want: PageWant): Promise<readonly ReadKey[]> {
  const { context, question, identityId } = want;
  if (question.apiId === undefined && identityId === undefined) throw tooManyKeys();
  const read: ReadKey[] = [];
  let start = "";
  for (;;) {
    const group = await apisOf(want, start);
    // One more than there may be, to know of it.
    const budget = MAX_READ + 1 - read.length;
    const limits = { budget, enough: MAX_READ, descending: false };
    const lists = new KeyLists(context, { ...listsWant(want, group), ...limits });
    while (await lists.readOn()) read.push(...lists.take());
    if (read.length > MAX_READ || !lists.isOver) throw tooManyKeys();
    if (!group.hasMore) return read;
    start = group.end;
  }
}

function tooManyKeys(): LatchkeyError {
  return unmet(
    "too-many-keys",
    `only the keys of an API or owner with at most ${MAX_READ} keys can be in another order than that of creation`,
    { limit: MAX_READ },
  );
}
