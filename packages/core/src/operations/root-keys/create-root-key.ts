import { z } from "zod";
import {
  DIRECTORY_ID,
  type RootKeyRecord,
  rootKeyPointerType,
  rootKeyType,
} from "../../records/root-key.js";
import { isRootPermission, ROOT_PERMISSION_FORM } from "../../rules/root-permission.js";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import { type OperationContext, randomRepeated, transact } from "../context.js";
import { type ListSchema, orRequired, parseInput, text } from "../input.js";
import { expiryIssues, instant } from "../time-input.js";

const PERMISSION_ERROR = `must be ${ROOT_PERMISSION_FORM}`;

const LIST_ERROR = "must be a list of 1 to 1000 permissions";

const rootPermission = z
  .string({ error: PERMISSION_ERROR })
  .refine(isRootPermission, { error: PERMISSION_ERROR });

const rootPermissions: ListSchema<typeof rootPermission> = z
  .array(rootPermission, { error: orRequired(LIST_ERROR) })
  .min(1, { error: LIST_ERROR })
  .max(1_000, { error: LIST_ERROR });

/** Input of createRootKey. */
export interface CreateRootKeyInput {
  /** What it authorises, such as `api.*.create_key`: 1 to 1,000. */
  readonly permissions: readonly string[];
  /** For people: 1 to 256 characters. */
  readonly name?: string | undefined;
  /** Unix epoch ms or a `Date`, later than now; never unless given. */
  readonly expires?: number | Date | undefined;
}

/** Schema of the input of createRootKey. */
export const createRootKeyInput = z.strictObject({
  permissions: rootPermissions,
  name: text(1, 256).optional(),
  expires: instant(1).optional(),
});

/** Prefix of root keys, so that people and scanners can distinguish them from the keys of customers. */
const ROOT_PREFIX = "lk_root";

/** A root key that was created. */
export interface CreatedRootKey {
  /** `root_…` */
  readonly rootKeyId: string;
  /** The secret, which is shown this once. */
  readonly key: string;
}

/** @see RootKeyOperations.createRootKey */
export async function createRootKey(
  context: OperationContext,
  input: CreateRootKeyInput,
): Promise<CreatedRootKey> {
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
}
