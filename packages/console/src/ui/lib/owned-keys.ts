import { ApiError, call } from "./api.js";
import type { Allowed } from "./permissions.js";
import type { Key } from "./types.js";

/** Maximum keys of an owner to load: each hundred of them takes a request, and the server reads a part of each API for it. */
const MOST_KEYS = 1_000;

/** Keys of an owner in the APIs that the operator may read. */
export interface OwnedKeys {
  readonly keys: readonly Key[];
  /** Whether there are more, which were not loaded. */
  readonly hasMore: boolean;
}

/** The first keys of an owner in all APIs that the operator may read. */
export async function keysOfOwner(identityId: string, allowed: Allowed): Promise<OwnedKeys> {
  if (allowed.can("api", "read_api") && allowed.can("api", "read_key"))
    return firstKeys("keys.listKeys", { identityId });
  const apiIds = allowed.idsOf("api", "read_key");
  const readable = apiIds.filter((apiId) => allowed.can("api", "read_api", apiId));
  const found = await Promise.all(
    readable.map((apiId) => unlessGone(firstKeys("apis.listKeys", { apiId, identityId }))),
  );
  const keys = found.flatMap((each) => each?.keys ?? []);
  const hasMore = keys.length > MOST_KEYS || found.some((each) => each?.hasMore);
  return { keys: keys.slice(0, MOST_KEYS), hasMore };
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

async function firstKeys(operation: string, input: object): Promise<OwnedKeys> {
  const keys: Key[] = [];
  let cursor: string | undefined;
  do {
    const page: { readonly keys: readonly Key[]; readonly cursor?: string } = await call(
      operation,
      { ...input, cursor },
    );
    keys.push(...page.keys);
    cursor = page.cursor;
  } while (cursor !== undefined && keys.length < MOST_KEYS);
  return { keys, hasMore: cursor !== undefined };
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
