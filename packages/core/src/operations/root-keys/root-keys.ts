import { z } from "zod";
import { changesNothing } from "../../audit/entry.js";
import { LatchkeyError, unmet } from "../../errors.js";
import { withoutNull } from "../../lib/without-null.js";
import {
  DIRECTORY_ID,
  type RootKeyPointer,
  type RootKeyRecord,
  rootKeyPointerType,
  rootKeyType,
} from "../../records/root-key.js";
import { type WorkspaceRecord, workspaceOf } from "../../records/workspace.js";
import { isExpired } from "../../rules/keys/lifecycle.js";
import { decideRotation, putsOffRotated } from "../../rules/keys/rotation.js";
import {
  isGrantCovered,
  ROOT_PERMISSION_PATTERN,
  rootPermissionProblem,
} from "../../rules/root-permission.js";
import { BYTE_LENGTH, canBeSecret, formatSecret, MAX_SECRET_LENGTH } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import { afterWriting } from "../../store/after-writing.js";
import type { Want } from "../../store/key-store.js";
import type { Transaction } from "../../store/transaction.js";
import type { EpochMs } from "../../time.js";
import { type OperationContext, randomRepeated, transact, type Work } from "../context.js";
import { deleteExisting, readStored } from "../damaged.js";
import { fullList, id, optional, text } from "../input.js";
import { oldExpiry } from "../keys/rotate-key.js";
import { operation, type TableOf, write } from "../operation.js";
import { findRecords, pagesOf, readRecordIn } from "../read.js";
import { expiryIssues, grace, instant } from "../time-input.js";
import type {
  CreatedRootKey,
  RootKeyOperations,
  RootKeyOutcome,
  RootKeyScope,
  RootKeyView,
} from "./operations.js";

/** Prefix of root keys, so that people and scanners can distinguish them from the keys of customers. */
export const ROOT_PREFIX = "lk_root";

const permissionError = ({ input }: { readonly input?: unknown }) =>
  rootPermissionProblem(typeof input === "string" ? input : "");

const rootPermission = z
  .string({ error: permissionError })
  .regex(ROOT_PERMISSION_PATTERN, { error: permissionError });

const rootPermissions = fullList(rootPermission, 1_000, "permissions");

const createRootKeyInput = z.strictObject({
  permissions: rootPermissions,
  ...optional({ name: text(1, 256), expires: instant(1) }),
});

const updateRootKeyInput = z.strictObject({
  rootKeyId: id,
  ...optional({
    name: text(1, 256).nullable(),
    permissions: rootPermissions,
    expires: instant(1).nullable(),
  }),
});

export const ROOT_KEY_TABLE = {
  createRootKey: operation(
    createRootKeyInput,
    async (context, { permissions, name = null, expires = null }, scope?: RootKeyScope) => {
      const now = context.now();
      const { key, hash, start } = newRootSecret(context);
      const rootKeyId = context.newId("root");
      const rootKey: RootKeyRecord = {
        id: rootKeyId,
        workspaceId: context.workspaceId,
        hash,
        start,
        name,
        permissions: [...new Set(permissions)],
        expires,
        enabled: true,
        rotatedTo: null,
        createdAt: now,
      };
      const refuse = async (transaction: Transaction) => {
        const maker = await readMaker(transaction, scope, context.now());
        refuseAbove(maker, rootKey);
      };
      // A refusal writes nothing, so it comes before the pointer.
      if (scope?.by !== undefined) await context.transact(context.workspaceId, refuse);
      return pointedAt(context, rootKey, async ({ transaction, audit }) => {
        await refuse(transaction);
        transaction.insert(rootKeyType, rootKey);
        const after = rootKeyFields(rootKey);
        audit({ type: "root_key.created", at: now, resourceId: rootKeyId, after });
        return { rootKeyId, key };
      });
    },
    { issuesAt: expiryIssues },
  ),

  updateRootKey: write(
    updateRootKeyInput,
    async (work, { rootKeyId, permissions, name, expires }, scope?: RootKeyScope) => {
      const { context, transaction, audit } = work;
      const maker = await readMaker(transaction, scope, context.now());
      const { value: rootKey } = await readRecordIn(transaction, rootKeyType, rootKeyId);
      const after: RootKeyRecord = {
        ...rootKey,
        ...(name !== undefined && { name }),
        ...(permissions !== undefined && { permissions: [...new Set(permissions)] }),
        ...(expires !== undefined && { expires }),
      };
      refuseStronger(maker, rootKey);
      refuseStronger(maker, after);
      if (expires !== undefined) refuseOutliving(maker, after);
      if (putsOffRotated(rootKey.rotatedTo, rootKey.expires, after.expires))
        throw unmet("key-rotated", "this root key was rotated: its expiry cannot be postponed");
      const change = {
        type: "root_key.updated",
        resourceId: rootKeyId,
        before: rootKeyFields(rootKey),
        after: rootKeyFields(after),
      } as const;
      if (!changesNothing(change)) {
        transaction.update(rootKeyType, rootKey, after);
        audit(change);
      }
      return {};
    },
    { issuesAt: expiryIssues },
  ),

  rotateRootKey: operation(
    z.strictObject({ rootKeyId: id, graceMs: grace }),
    async (context, { rootKeyId, graceMs }, scope?: RootKeyScope) => {
      // A refusal writes nothing, so it comes before the pointer.
      const readBounded = async (transaction: Transaction) => {
        const maker = await readMaker(transaction, scope, context.now());
        const { value: rootKey } = await readRecordIn(transaction, rootKeyType, rootKeyId);
        refuseAbove(maker, rootKey);
        return rootKey;
      };
      await context.transact(context.workspaceId, async (transaction) => {
        const rootKey = await readBounded(transaction);
        oldExpiry("root key", decideRotation(rootKey, graceMs, context.now()));
      });
      const { key, hash, start } = newRootSecret(context);
      const successorId = context.newId("root");
      return pointedAt(context, { id: successorId, hash }, async ({ transaction, audit }) => {
        const rootKey = await readBounded(transaction);
        const now = context.now();
        const expires = oldExpiry("root key", decideRotation(rootKey, graceMs, now));
        const successor = { ...rootKey, id: successorId, hash, start, createdAt: now };
        transaction.update(rootKeyType, rootKey, { ...rootKey, expires, rotatedTo: successorId });
        transaction.insert(rootKeyType, successor);
        audit({
          type: "root_key.rotated",
          at: now,
          resourceId: rootKeyId,
          before: { expires: rootKey.expires },
          after: { rotatedTo: successorId, expires },
        });
        const after = rootKeyFields(successor);
        audit({ type: "root_key.created", at: now, resourceId: successorId, after });
        return { rootKeyId: successorId, key };
      });
    },
  ),

  listRootKeys: pagesOf(rootKeyType, "root-keys", (records, context) => {
    const now = context.now();
    return { rootKeys: records.map((rootKey) => toRootKeyView(rootKey, now)) };
  }),

  revokeRootKey: operation(z.strictObject({ rootKeyId: id }), async (context, { rootKeyId }) => {
    let hash: string | undefined;
    const answer = await transact(context, async ({ transaction, audit }) => {
      const rootKey = await deleteExisting(transaction, rootKeyType, rootKeyId);
      const unreadable = rootKey === null;
      audit({ type: "root_key.revoked", resourceId: rootKeyId, unreadable });
      hash = rootKey?.hash;
      return {};
    });
    if (hash === undefined) return answer;
    // The pointer leads nowhere now; it is deleted only for tidiness.
    const pointer = { kind: "rootKeyPointer", id: hash } as const;
    await afterWriting(() =>
      context.transact(DIRECTORY_ID, async (transaction) => {
        transaction.deleteAddress(pointer, [], []);
      }),
    );
    return answer;
  }),

  authenticateRootKey: { run: authenticateRootKey, input: null },
} satisfies TableOf<RootKeyOperations>;

/** A new secret for a root key, with the fields that its record derives from it. */
function newRootSecret(context: Pick<OperationContext, "random" | "hasher">) {
  const key = formatSecret(ROOT_PREFIX, context.random(BYTE_LENGTH.default));
  return { key, hash: context.hasher.hash(key), start: secretStart(key) };
}

/** The fields of a root key in the audit log. Its hash is in no entry. */
function rootKeyFields({ name, permissions, expires }: RootKeyRecord) {
  return { name, permissions, expires };
}

/**
 * Creates a root key and the pointer to it. The pointer is written first: one that leads nowhere is harmless, but a root key without one
 * cannot be found. It is looked at again afterwards: a store that failed over in between has lost it.
 */
async function pointedAt(
  context: OperationContext,
  { id: rootKeyId, hash }: Pick<RootKeyRecord, "id" | "hash">,
  create: (work: Work) => Promise<CreatedRootKey>,
): Promise<CreatedRootKey> {
  const point = () =>
    context.transact(DIRECTORY_ID, async (transaction) => {
      const address = { kind: "rootKeyPointer", id: hash } as const;
      const stored = await readStored(transaction, address);
      const pointer = stored && rootKeyPointerType.decode(stored, DIRECTORY_ID);
      if (pointer?.rootKeyId === rootKeyId) return;
      if (pointer !== null) throw randomRepeated("no root key was created");
      const { workspaceId } = context;
      transaction.insert(rootKeyPointerType, { id: hash, workspaceId, rootKeyId });
    });
  // The pointer is in another workspace than the call, so a repeat may write one again, which does no harm.
  await context.call?.isFirst();
  await point();
  const created = await transact(context, create);
  await afterWriting(point);
  return created;
}

/** Bounds of the root keys that a caller creates. */
type Maker = Pick<RootKeyRecord, "permissions" | "expires">;

/** The caller that makes or changes a root key; null: the host, without bounds. @throws LatchkeyError `UNAUTHORIZED` if it has ended. */
async function readMaker(
  transaction: Transaction,
  { by }: RootKeyScope = {},
  now: EpochMs,
): Promise<Maker | null> {
  if (by === undefined) return null;
  if ("permissions" in by) return { permissions: by.permissions, expires: null };
  const found = await transaction.readOne({ kind: "rootKey", id: by.rootKeyId });
  const maker = found && rootKeyType.decode(found.record, transaction.workspaceId);
  if (maker === null || !maker.enabled || isExpired(maker.expires, now))
    throw new LatchkeyError("UNAUTHORIZED", "this root key no longer authorises anything");
  return maker;
}

/** @throws LatchkeyError `INSUFFICIENT_PERMISSIONS` for a root key that may do what its maker may not. */
function refuseStronger(
  maker: Maker | null,
  { permissions }: Pick<RootKeyRecord, "permissions">,
): void {
  if (maker === null || permissions.every((name) => isGrantCovered(maker.permissions, name)))
    return;
  throw new LatchkeyError(
    "INSUFFICIENT_PERMISSIONS",
    "a root key must not hold a permission that its creator does not hold",
  );
}

/** @throws LatchkeyError `INSUFFICIENT_PERMISSIONS` for a root key that its maker may not make. */
function refuseAbove(maker: Maker | null, rootKey: Maker): void {
  refuseStronger(maker, rootKey);
  refuseOutliving(maker, rootKey);
}

/** @throws LatchkeyError `INSUFFICIENT_PERMISSIONS` for a root key that lives longer than its maker. */
function refuseOutliving(maker: Maker | null, { expires }: Pick<RootKeyRecord, "expires">): void {
  const last = maker?.expires ?? null;
  if (last === null || (expires !== null && expires <= last)) return;
  throw new LatchkeyError(
    "INSUFFICIENT_PERMISSIONS",
    'a root key cannot create one that expires later than itself: give it an earlier "expires"',
  );
}

function toRootKeyView(rootKey: RootKeyRecord, now: EpochMs): RootKeyView {
  const { id, start, name, permissions, expires, rotatedTo, createdAt } = rootKey;
  const enabled = rootKey.enabled && !isExpired(expires, now);
  return withoutNull({ id, start, name, permissions, expires, enabled, rotatedTo, createdAt });
}

const REFUSED: RootKeyOutcome = { kind: "refused" };

/** The place of a token's root key never changes, so it is cached; the root key itself is read each time. */
async function authenticateRootKey(
  context: OperationContext,
  token: string,
): Promise<RootKeyOutcome> {
  // A host may pass anything: a value that is not a string is not a root key.
  if (typeof token !== "string" || token.length > MAX_SECRET_LENGTH) return REFUSED;
  const plainHash = context.hasher.plainHash(token);
  const known = context.rootKeys.get(plainHash);
  const found =
    (known === undefined ? null : await pointedRootKey(context, known)) ??
    (await findRootKey(context, token, plainHash));
  if (found === null) return REFUSED;
  const { rootKey, workspace } = found;
  if (!rootKey.enabled || isExpired(rootKey.expires, context.now())) return REFUSED;
  if (!workspace.enabled) return { kind: "workspace-disabled" };
  const { id: rootKeyId, workspaceId, permissions } = rootKey;
  return { kind: "authenticated", rootKeyId, workspaceId, permissions };
}

interface FoundRootKey {
  readonly rootKey: RootKeyRecord;
  readonly workspace: WorkspaceRecord;
}

/** Looks in the directory, which points to the root keys of all workspaces. */
async function findRootKey(
  context: OperationContext,
  token: string,
  plainHash: string,
): Promise<FoundRootKey | null> {
  if (!canBeSecret(token)) return null;
  const hashes = context.hasher.candidates(token);
  const wants = hashes.map((hash): Want => ({ kind: "rootKeyPointer", id: hash }));
  const pointers = await context.store.read(DIRECTORY_ID, wants);
  for (const pointed of pointers.found) {
    if (pointed === null) continue;
    const pointer = rootKeyPointerType.decode(pointed.record, DIRECTORY_ID);
    const found = await pointedRootKey(context, pointer);
    if (found === null) continue;
    context.rootKeys.set(plainHash, pointer);
    return found;
  }
  return null;
}

/** The root key of a pointer; null if none has this hash any more. */
async function pointedRootKey(
  { store }: OperationContext,
  { id: hash, workspaceId, rootKeyId }: RootKeyPointer,
): Promise<FoundRootKey | null> {
  const [stored = null, workspace = null] = await findRecords({ store, workspaceId }, [
    { kind: "rootKey", id: rootKeyId },
    { kind: "workspace", id: workspaceId },
  ]);
  if (stored === null) return null;
  const rootKey = rootKeyType.decode(stored.record, workspaceId);
  // A pointer is only a hint: the hash of the root key itself decides.
  if (rootKey.hash !== hash) return null;
  return { rootKey, workspace: workspaceOf(workspace?.record, workspaceId) };
}
