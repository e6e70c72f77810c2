import { call } from "./api.js";
import type { Allowed } from "./permissions.js";
import type { Api, Key } from "./types.js";

/** The keys of an owner in all APIs that the operator may read. */
export async function keysOfOwner(externalId: string, allowed: Allowed): Promise<readonly Key[]> {
  const apiIds = allowed.can("api", "read_api")
    ? (await everyPage<Api>("apis.listApis", "apis", {})).map(({ id }) => id)
    : allowed.idsOf("api", "read_api");
  const readable = apiIds.filter((apiId) => allowed.can("api", "read_key", apiId));
  const found = await Promise.all(
    readable.map((apiId) => everyPage<Key>("apis.listKeys", "keys", { apiId, externalId })),
  );
  return found.flat();
}

async function everyPage<Item>(
  operation: string,
  field: string,
  input: object,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page: Record<string, unknown> = await call(operation, { ...input, cursor });
    items.push(...(page[field] as Item[]));
    cursor = page.cursor as string | undefined;
  } while (cursor !== undefined);
  return items;
}

/** How many are done at once: a store that other programs use is not to be flooded. */
const AT_ONCE = 8;

/** Does something to each, and says how far it has come. Stops at the first that fails. */
export async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  onDone: (count: number) => void,
): Promise<void> {
  let done = 0;
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const some = items.slice(at, at + AT_ONCE);
    await Promise.all(some.map(work));
    done += some.length;
    onDone(done);
  }
}
