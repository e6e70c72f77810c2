import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import { type RootKeyRecord, rootKeyType } from "../../records/root-key.js";
import { isExpired } from "../../rules/expiry.js";
import type { EpochMs } from "../../time.js";
import type { OperationContext } from "../context.js";
import type { PageInput } from "../input.js";
import { cursor, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";

/** Input of listRootKeys. */
export interface ListRootKeysInput extends PageInput {}

/** Schema of the input of listRootKeys. */
export const listRootKeysInput = z.strictObject({ limit: pageLimit, cursor: cursor.optional() });

/** A root key as it is listed. Fields without a value are absent; its secret is nowhere. */
export interface RootKeyView {
  /** `root_…` */
  readonly id: string;
  /** Leading characters of the secret. */
  readonly start: string;
  /** For people. */
  readonly name?: string;
  /** What it authorises. */
  readonly permissions: readonly string[];
  /** Unix epoch ms; absent: never. */
  readonly expires?: EpochMs;
  /** False once it has expired. */
  readonly enabled: boolean;
  /** Unix epoch ms. */
  readonly createdAt: EpochMs;
}

/** A page of root keys in the order of their creation; without `cursor` it is the last one. */
export interface RootKeyList extends PageInfo {
  /** In the order of their creation. */
  readonly rootKeys: readonly RootKeyView[];
  /** Exact number of root keys of the workspace, expired ones included. */
  readonly total: number;
}

/** @see RootKeyOperations.listRootKeys */
export async function listRootKeys(
  context: OperationContext,
  input: ListRootKeysInput = {},
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
