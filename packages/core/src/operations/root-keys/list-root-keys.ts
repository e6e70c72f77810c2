import { z } from "zod";
import { encodeCursor, type ListScope } from "../../lib/cursor.js";
import type { RootKeyRecord } from "../../records/root-key.js";
import { isExpired } from "../../rules/expiry.js";
import type { EpochMs } from "../../time.js";
import { afterCursor, type OperationContext } from "../context.js";
import { cursor, pageLimit, parseInput } from "../input.js";

/** Input of listRootKeys. `limit` 1 to 100, 100 unless given. */
export const listRootKeysInput = z.strictObject({ limit: pageLimit, cursor: cursor.optional() });

/** A root key as it is listed. Fields without a value are absent; its secret is nowhere. */
export interface ListedRootKey {
  readonly id: string;
  /** Leading characters of the secret. */
  readonly start: string;
  readonly name?: string;
  readonly permissions: readonly string[];
  /** Unix epoch ms. */
  readonly expires?: EpochMs;
  /** False once it has expired. */
  readonly enabled: boolean;
  /** Unix epoch ms. */
  readonly createdAt: EpochMs;
}

/** A page of root keys in the order of their creation; without `cursor` it is the last one. */
export interface RootKeyList {
  readonly rootKeys: readonly ListedRootKey[];
  /** Exact number of root keys of the workspace, expired ones included. */
  readonly total: number;
  readonly cursor?: string;
}

/** @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list. */
export async function listRootKeys(
  context: OperationContext,
  input: z.input<typeof listRootKeysInput> = {},
): Promise<RootKeyList> {
  const parsed = parseInput(listRootKeysInput, input);
  const scope: ListScope = { list: "root-keys", ownerId: context.workspaceId };
  const page = await context.store.listRootKeys(context.workspaceId, {
    afterId: afterCursor(scope, parsed.cursor),
    limit: parsed.limit,
  });
  const now = context.now();
  const last = page.items.at(-1);
  return {
    rootKeys: page.items.map((rootKey) => toListedRootKey(rootKey, now)),
    total: page.total,
    ...(page.hasMore && last !== undefined && { cursor: encodeCursor(scope, last.id) }),
  };
}

function toListedRootKey(rootKey: RootKeyRecord, now: EpochMs): ListedRootKey {
  const { id, start, name, permissions, expiresAt, switchedOn, createdAt } = rootKey;
  return {
    id,
    start,
    ...(name !== null && { name }),
    permissions,
    ...(expiresAt !== null && { expires: expiresAt }),
    enabled: switchedOn && !isExpired(expiresAt, now),
    createdAt,
  };
}
