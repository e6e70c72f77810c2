import { z } from "zod";
import {
  DIRECTORY_ID,
  type RootKeyRecord,
  rootKeyPointerType,
  rootKeyType,
} from "../../records/root-key.js";
import { isExpired } from "../../rules/keys/expiry.js";
import { isRootPermission, ROOT_PERMISSION_FORM } from "../../rules/root-permission.js";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import type { EpochMs } from "../../time.js";
import {
  notFound,
  type OperationContext,
  randomRepeated,
  transact,
  transactElsewhere,
} from "../context.js";
import { deleteRecord } from "../damaged.js";
import { id, type ListSchema, orRequired, type PageInput, parseInput, text } from "../input.js";
import { operation, type Run, type TableOf } from "../operation.js";
import { type PageInfo, pagesOf } from "../read.js";
import { expiryIssues, instant } from "../time-input.js";
import { authenticateRootKey, type RootKeyOutcome } from "./authenticate-root-key.js";

/** A root key that was created. */
export interface CreatedRootKey {
  /** `root_…` */
  readonly rootKeyId: string;
  /** The secret, which is shown this once. */
  readonly key: string;
}

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

/** Operations on root keys, which authorise management over HTTP. */
export interface RootKeyOperations {
  /**
   * Creates a key that authorises management calls in this workspace.
   *
   * @returns The secret, which is shown this once, and the id of the root key.
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["api.*.create_key"] });
   */
  createRootKey(input: {
    /** What it authorises, such as `api.*.create_key`: 1 to 1,000. */
    readonly permissions: readonly string[];
    /** For people: 1 to 256 characters. */
    readonly name?: string | undefined;
    /** Unix epoch ms or a `Date`, later than now; never unless given. */
    readonly expires?: number | Date | undefined;
  }): Promise<CreatedRootKey>;
  /**
   * Lists the root keys of the workspace without their secrets, a page at a time; `rootKeys()` of a latchkey goes through all of
   * them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { rootKeys, total, cursor } = await latchkey.listRootKeys({ limit: 20 });
   */
  listRootKeys(input?: PageInput): Promise<RootKeyList>;
  /**
   * Revokes a root key for good: it authorises no call that starts after this has resolved, in no process. A root key whose
   * record cannot be read is revoked all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such root key.
   * @example
   * await latchkey.revokeRootKey({ rootKeyId });
   */
  revokeRootKey(input: {
    /** Id of the root key. */
    readonly rootKeyId: string;
  }): Promise<Record<string, never>>;
  /**
   * Finds out whom a token speaks for. Root keys of every workspace are recognised: the token says which workspace it belongs
   * to. Keys of APIs are not root keys, whatever their permissions.
   *
   * @param token - The presented root key.
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * const outcome = await latchkey.authenticateRootKey("lk_root_…");
   */
  authenticateRootKey(token: string): Promise<RootKeyOutcome>;
}

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
export const ROOT_PREFIX = "lk_root";

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
  await transactElsewhere(context, DIRECTORY_ID, async (transaction) => {
    const pointer = { id: rootKey.hash, workspaceId: context.workspaceId, rootKeyId };
    const address = { kind: "rootKeyPointer", id: rootKey.hash } as const;
    if ((await transaction.readOne(address)) !== null)
      throw randomRepeated("no root key was created");
    transaction.expect({ ...address, version: null });
    transaction.insert(rootKeyPointerType, pointer);
  });
  const { name, permissions, expires } = rootKey;
  const { answer } = await transact(context, async ({ transaction, audit }) => {
    transaction.insert(rootKeyType, rootKey);
    const after = { name, permissions, expires };
    audit({ type: "root_key.created", at: now, resourceId: rootKeyId, after });
    return { rootKeyId, key };
  });
  return answer;
};

export const ROOT_KEY_TABLE = {
  createRootKey: { run: createRootKey, input: createRootKeyInput },

  listRootKeys: pagesOf(rootKeyType, "root-keys", (records, context) => {
    const now = context.now();
    return { rootKeys: records.map((rootKey) => toRootKeyView(rootKey, now)) };
  }),

  revokeRootKey: operation(z.strictObject({ rootKeyId: id }), async (context, { rootKeyId }) => {
    let hash: string | undefined;
    const { answer } = await transact(context, async ({ transaction, audit }) => {
      const rootKey = await deleteRecord(transaction, rootKeyType, rootKeyId);
      if (rootKey === undefined) throw notFound("root key");
      const unreadable = rootKey === null;
      audit({ type: "root_key.revoked", resourceId: rootKeyId, unreadable });
      hash = rootKey?.hash;
      return {};
    });
    if (hash !== undefined) await removePointer(context, hash);
    return answer;
  }),

  authenticateRootKey: { run: authenticateRootKey, input: null },
} satisfies TableOf<RootKeyOperations>;

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
