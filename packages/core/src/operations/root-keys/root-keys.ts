import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import {
  DIRECTORY_ID,
  type RootKeyRecord,
  rootKeyPointerType,
  rootKeyType,
} from "../../records/root-key.js";
import { isExpired } from "../../rules/expiry.js";
import { isRootPermission, ROOT_PERMISSION_FORM } from "../../rules/root-permission.js";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import type { EpochMs } from "../../time.js";
import { notFound, type OperationContext, randomRepeated, transact } from "../context.js";
import { deleteRecord } from "../damaged.js";
import { id, type ListSchema, orRequired, pageInput, parseInput, text } from "../input.js";
import { readPage } from "../read.js";
import type { Run, TableOf } from "../run.js";
import { expiryIssues, instant } from "../time-input.js";
import { authenticateRootKey } from "./authenticate-root-key.js";
import type { RootKeyOperations, RootKeyView } from "./operations.js";

const PERMISSION_ERROR = `must be ${ROOT_PERMISSION_FORM}`;

const LIST_ERROR = "must be a list of 1 to 1000 permissions";

const rootPermission = z
  .string({ error: PERMISSION_ERROR })
  .refine(isRootPermission, { error: PERMISSION_ERROR });

const rootPermissions: ListSchema<typeof rootPermission> = z
  .array(rootPermission, { error: orRequired(LIST_ERROR) })
  .min(1, { error: LIST_ERROR })
  .max(1_000, { error: LIST_ERROR });

const createRootKeyInput = z.strictObject({
  permissions: rootPermissions,
  name: text(1, 256).optional(),
  expires: instant(1).optional(),
});

/** Prefix of root keys, so that people and scanners can distinguish them from the keys of customers. */
const ROOT_PREFIX = "lk_root";

const revokeRootKeyInput = z.strictObject({ rootKeyId: id });

const createRootKey: Run<RootKeyOperations["createRootKey"]> = async (context, input) => {
  const now = context.now();
  const parsed = parseInput(createRootKeyInput, input, (raw) => expiryIssues(raw, now));
  const key = formatSecret(ROOT_PREFIX, context.random(BYTE_LENGTH.default));
  const rootKeyId = context.newId("root");
  const rootKey: RootKeyRecord = {
    id: rootKeyId,
    workspaceId: context.workspaceId,
    hash: context.hasher.hash(key),
    start: secretStart(key),
    name: parsed.name ?? null,
    permissions: [...new Set(parsed.permissions)],
    expires: parsed.expires ?? null,
    enabled: true,
    createdAt: now,
  };
  // First: a pointer that leads nowhere is harmless, and a root key without one could not be found.
  await context.transact(DIRECTORY_ID, async (transaction) => {
    const pointer = { id: rootKey.hash, workspaceId: context.workspaceId, rootKeyId };
    const address = { kind: "rootKeyPointer", id: rootKey.hash } as const;
    if ((await transaction.readOne(address)) !== null)
      throw randomRepeated("no root key was created");
    transaction.expect({ ...address, version: null });
    transaction.insert(rootKeyPointerType, pointer);
  });
  const { name, permissions, expires } = rootKey;
  await transact(context, async (transaction, audit) => {
    transaction.insert(rootKeyType, rootKey);
    audit({
      type: "root_key.created",
      at: now,
      resourceId: rootKeyId,
      after: { name, permissions, expires },
    });
  });
  return { rootKeyId, key };
};

const listRootKeys: Run<RootKeyOperations["listRootKeys"]> = async (context, input = {}) => {
  const page = parseInput(pageInput, input);
  const scope: ListScope = { list: "root-keys", ownerId: context.workspaceId };
  const { items, total, info } = await readPage(context, rootKeyType, "rootKey", scope, page);
  const now = context.now();
  return { rootKeys: items.map(({ value }) => toRootKeyView(value, now)), total, ...info };
};

const revokeRootKey: Run<RootKeyOperations["revokeRootKey"]> = async (context, input) => {
  const { rootKeyId } = parseInput(revokeRootKeyInput, input);
  const { answer: hash } = await transact(context, async (transaction, audit) => {
    const rootKey = await deleteRecord(transaction, rootKeyType, rootKeyId);
    if (rootKey === undefined) throw notFound("root key");
    const unreadable = rootKey === null;
    audit({ type: "root_key.revoked", resourceId: rootKeyId, unreadable });
    return rootKey?.hash ?? null;
  });
  if (hash !== null) await removePointer(context, hash);
  return {};
};

/** The root key is revoked by now: its pointer leads nowhere, and goes for tidiness. */
async function removePointer(context: OperationContext, hash: string): Promise<void> {
  await context.transact(DIRECTORY_ID, async (transaction) => {
    transaction.deleteAddress({ kind: "rootKeyPointer", id: hash }, [], []);
  });
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

/** How {@link RootKeyOperations} run. */
export const ROOT_KEY_TABLE = {
  createRootKey: { run: createRootKey, input: createRootKeyInput },
  listRootKeys: { run: listRootKeys, input: pageInput },
  revokeRootKey: { run: revokeRootKey, input: revokeRootKeyInput },
  authenticateRootKey: { run: authenticateRootKey, input: null },
} satisfies TableOf<RootKeyOperations>;
