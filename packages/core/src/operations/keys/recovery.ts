import { z } from "zod";
import { hasCode, LatchkeyError, unmet } from "../../errors.js";
import { keysOfApi, keyType } from "../../records/key.js";
import { afterWriting } from "../../store/after-writing.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { inRounds, type OperationContext, requireVault, transact } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { id, pageFields } from "../input.js";
import { operation } from "../operation.js";
import { readPage, requireId } from "../read.js";
import { readKey } from "./load.js";
import { type KeyView, PLAINTEXT_ERRORS, type PlaintextError } from "./view.js";

const reencryptKeysInput = z.strictObject({ apiId: id, ...pageFields });

/**
 * The view of a key with its secret, if the key is recoverable; otherwise the view unchanged, with or without a vault.
 *
 * A secret sealed with an earlier key of the vault's ring is also sealed again with the current one. If that fails, as for a key that was
 * deleted meanwhile, the next read tries again: the secret itself was opened.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` without a vault, or without the key of its ring that sealed the secret, or without the pepper
 * that it was hashed with; `STORE_CORRUPT` if the stored text was tampered with, or opens to a secret that is not this key's.
 */
export async function withPlaintext(
  context: OperationContext,
  loaded: LoadedKey,
  view: KeyView,
): Promise<KeyView> {
  const { sealedSecret, id } = loaded.key;
  if (sealedSecret === null) return view;
  const vault = requireVault(context);
  const plaintext = openSecret(context, loaded, sealedSecret);
  if (!vault.isCurrent(sealedSecret)) await resealSecret(context, id).catch(() => false);
  return { ...view, plaintext };
}

/** Like {@link withPlaintext}, for one key of a page: a secret that does not open must not fail the others. */
export async function withPlaintextOrError(
  context: OperationContext,
  loaded: LoadedKey,
  view: KeyView,
): Promise<KeyView> {
  try {
    return await withPlaintext(context, loaded, view);
  } catch (error) {
    const plaintextError = plaintextErrorOf(error);
    if (plaintextError === null) throw error;
    return { ...view, plaintextError };
  }
}

/** Seals a secret with the ring's current key, if it was sealed with an earlier one. @returns Whether anything was written. */
async function resealSecret(context: OperationContext, keyId: string): Promise<boolean> {
  const vault = requireVault(context);
  return transact(context, async ({ transaction }) => {
    const loaded = await readKey(context, transaction, keyId);
    const { key } = loaded;
    if (key.sealedSecret === null || vault.isCurrent(key.sealedSecret)) return false;
    const secret = openSecret(context, loaded, key.sealedSecret);
    const sealedSecret = vault.seal(secret, { workspaceId: context.workspaceId, keyId });
    // No audit entry, because the secret stays the same. The version changes, so that processes that cached the key read it again.
    transaction.update(keyType, key, { ...key, sealedSecret });
    return true;
  });
}

/** The secret of a key; null if it is not recoverable, or there is no vault. @throws Like {@link withPlaintext}. */
export function openedSecret(context: OperationContext, loaded: LoadedKey): string | null {
  const { sealedSecret } = loaded.key;
  return context.vault === null || sealedSecret === null
    ? null
    : openSecret(context, loaded, sealedSecret);
}

function openSecret(context: OperationContext, { key }: LoadedKey, sealedSecret: string): string {
  const secret = requireVault(context).open(sealedSecret, {
    workspaceId: key.workspaceId,
    keyId: key.id,
  });
  if (context.hasher.candidates(secret).includes(key.hash)) return secret;
  const pepperId = context.hasher.missingPepper(key.hash);
  if (pepperId === null)
    throw new LatchkeyError(
      "STORE_CORRUPT",
      `the secret of ${key.id} does not have its hash: the pepper is a different one with the same id, or the record is damaged`,
    );
  throw unmet(
    "pepper-missing",
    `the pepper ${pepperId} that the hash of ${key.id} was made with is not configured, so its secret cannot be checked`,
  );
}

/** Why a secret could not be decrypted, or null for another error. */
function plaintextErrorOf(error: unknown): PlaintextError | null {
  if (!(error instanceof LatchkeyError)) return null;
  if (error.code === "STORE_CORRUPT") return "damaged";
  return PLAINTEXT_ERRORS.find((reason) => reason === error.reason) ?? null;
}

export const reencryptKeys = operation(reencryptKeysInput, async (context, { apiId, ...page }) => {
  const vault = requireVault(context);
  await requireId(context, { kind: "api", id: apiId });
  const scope = { list: "keys", ownerId: apiId } as const;
  const { items, info } = await readPage(context, keyType, scope, page, {
    list: keysOfApi(apiId),
  });
  const wants = items.map(({ id }) => ({ kind: "key", id }) as const);
  // Read again in a transaction: that a secret needs nothing must be durable, because the earlier key may be removed then.
  const found = await transact(context, ({ transaction }) => transaction.read(wants));
  const { round, total } = inRounds(context, (wasSealed: boolean) => (wasSealed ? 1 : 0));
  let [reencrypted, unopened] = [0, 0];
  for (const loaded of found) {
    const key = decodeOrNull(keyType, loaded?.record, context);
    if (key === null || key.sealedSecret === null || vault.isCurrent(key.sealedSecret)) continue;
    try {
      const reseal = () => resealSecret(round, key.id);
      if (await afterWriting(reseal, reencrypted > 0)) reencrypted += 1;
    } catch (error) {
      // A key that was deleted meanwhile has nothing left to seal.
      if (hasCode(error, "NOT_FOUND")) continue;
      if (plaintextErrorOf(error) === null) throw error;
      unopened += 1;
    }
  }
  const count = await afterWriting(() => total(reencrypted), reencrypted > 0);
  return { reencrypted: count, ...(unopened > 0 && { unopened }), ...info };
});
