import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import { type RootKeyRecord, rootKeyType } from "../../records/root-key.js";
import { isExpired } from "../../rules/expiry.js";
import type { EpochMs } from "../../time.js";
import type { OperationContext } from "../context.js";
import { cursor, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";

/** Input of listRootKeys. `limit` 1 to 100, 100 unless given. */
export const listRootKeysInput = z.strictObject({ limit: pageLimit, cursor: cursor.optional() });

/** A root key as it is listed. Fields without a value are absent; its secret is nowhere. */
export interface RootKeyView {
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
export interface RootKeyList extends PageInfo {
  readonly rootKeys: readonly RootKeyView[];
  /** Exact number of root keys of the workspace, expired ones included. */
  readonly total: number;
}

/** @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list. */
export async function listRootKeys(
  context: OperationContext,
  input: z.input<typeof listRootKeysInput> = {},
): Promise<RootKeyList> {
  const page = parseInput(listRootKeysInput, input);
  const scope: ListScope = { list: "root-keys", ownerId: context.workspaceId };
  const { items, total, info } = await readPage(context, rootKeyType, "rootKey", scope, page);
  const now = context.now();
  return { rootKeys: items.map(({ value }) => toRootKeyView(value, now)), total, ...info };
}

function toRootKeyView(rootKey: RootKeyRecord, now: EpochMs): RootKeyView {
  const { id, start, name, permissions, expires, enabled, createdAt } = rootKey;
  return {
    id,
    start,
    ...(name !== null && { name }),
    permissions,
    ...(expires !== null && { expires }),
    enabled: enabled && !isExpired(expires, now),
    createdAt,
  };
}
