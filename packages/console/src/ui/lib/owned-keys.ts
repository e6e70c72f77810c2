import { ApiError, call } from "./api.js";
import type { Allowed } from "./permissions.js";
import type { Key } from "./types.js";

/** The keys of an owner in all APIs that the operator may read. */
export async function keysOfOwner(identityId: string, allowed: Allowed): Promise<readonly Key[]> {
  if (allowed.can("api", "read_api") && allowed.can("api", "read_key"))
    return everyPage<Key>("keys.listKeys", "keys", { identityId });
  const apiIds = allowed.idsOf("api", "read_key");
  const readable = apiIds.filter((apiId) => allowed.can("api", "read_api", apiId));
  const found = await Promise.all(
    readable.map((apiId) =>
      unlessGone(everyPage<Key>("apis.listKeys", "keys", { apiId, identityId })),
    ),
  );
  return found.flatMap((keys) => keys ?? []);
}

/** The answer about an API that a permission names; null if the API was deleted, because the permission outlives it. */
export async function unlessGone<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_FOUND") return null;
    throw error;
  }
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

/**
 * Deletes, disables or enables all keys of an owner: in one call if the operator may do so in all APIs, otherwise in each allowed API.
 * Returns the number of keys.
 */
export async function actOnAll(
  operation: "deleteKeys" | "disableKeys" | "enableKeys",
  identityId: string,
  allowed: Allowed,
): Promise<number> {
  const action = operation === "deleteKeys" ? "delete_key" : "update_key";
  const scopes: readonly { readonly apiId?: string }[] = allowed.can("api", action)
    ? [{}]
    : allowed.idsOf("api", action).map((apiId) => ({ apiId }));
  let count = 0;
  for (const scope of scopes) {
    const input = { ...scope, identityId };
    const answer = await unlessGone(call<object>(`apis.${operation}`, input));
    const [changed = 0] = Object.values(answer ?? {});
    count += changed;
  }
  return count;
}
