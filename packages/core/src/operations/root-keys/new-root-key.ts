import { z } from "zod";
import { DIRECTORY_ID, type RootKeyRecord, rootKeyPointerType } from "../../records/root-key.js";
import { ROOT_PERMISSION_PATTERN, rootPermissionProblem } from "../../rules/root-permission.js";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import { type OperationContext, randomRepeated, transactElsewhere } from "../context.js";
import { fullList } from "../input.js";

/** Prefix of root keys, so that people and scanners can distinguish them from the keys of customers. */
export const ROOT_PREFIX = "lk_root";

const error = ({ input }: { readonly input?: unknown }) =>
  rootPermissionProblem(typeof input === "string" ? input : "");

const rootPermission = z.string({ error }).regex(ROOT_PERMISSION_PATTERN, { error });

/** What a root key may authorise. */
export const rootPermissions = fullList(rootPermission, 1_000, "permissions");

/** A new secret for a root key, with what its record says of it. */
export function newRootSecret(
  context: Pick<OperationContext, "random" | "hasher">,
): { readonly key: string } & Pick<RootKeyRecord, "hash" | "start"> {
  const key = formatSecret(ROOT_PREFIX, context.random(BYTE_LENGTH.default));
  return { key, hash: context.hasher.hash(key), start: secretStart(key) };
}

/** What the audit log says of a root key. Its hash is in no entry. */
export function rootKeyFields({ name, permissions, expires }: RootKeyRecord) {
  return { name, permissions, expires };
}

/** Leads from the hash of a root key to it. Before it is written: a pointer that leads nowhere is harmless, and a root key without one could not be found. */
export async function pointToRootKey(
  context: OperationContext,
  hash: string,
  rootKeyId: string,
): Promise<void> {
  await transactElsewhere(context, DIRECTORY_ID, async (transaction) => {
    const address = { kind: "rootKeyPointer", id: hash } as const;
    if ((await transaction.readOne(address)) !== null)
      throw randomRepeated("no root key was created");
    transaction.expect({ ...address, version: null });
    transaction.insert(rootKeyPointerType, {
      id: hash,
      workspaceId: context.workspaceId,
      rootKeyId,
    });
  });
}
