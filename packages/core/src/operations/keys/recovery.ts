import { corruptRecord } from "../../errors.js";
import { NO_CHANGES } from "../../records/audit-entry.js";
import type { LoadedKey } from "../../records/key.js";
import { type OperationContext, requireVault, untilFresh } from "../context.js";
import type { ListedKey } from "./view.js";

/**
 * The listed form with the secret of a recoverable key; of another key, the listed form as it is.
 *
 * A secret sealed with an earlier key of the vault's ring is sealed anew with the current one on the way.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` without a vault; `STORE_CORRUPT` when the stored text was tampered with,
 * or opens to a secret that is not this key's.
 */
export async function withPlaintext(
  context: OperationContext,
  loaded: LoadedKey,
  listed: ListedKey,
): Promise<ListedKey> {
  const vault = requireVault(context);
  const { sealedSecret } = loaded.key;
  if (sealedSecret === null) return listed;
  const plaintext = openSecret(context, loaded, sealedSecret);
  if (!vault.isCurrent(sealedSecret)) await resealSecret(context, loaded.key.id);
  return { ...listed, plaintext };
}

/**
 * Seals the secret of a key with the ring's current key, if it was sealed with an earlier one.
 *
 * @returns Whether anything was written.
 */
export async function resealSecret(context: OperationContext, keyId: string): Promise<boolean> {
  const vault = requireVault(context);
  return untilFresh(async () => {
    const loaded = await context.store.getKey(context.workspaceId, keyId);
    const sealedSecret = loaded?.key.sealedSecret ?? null;
    if (loaded === null || sealedSecret === null || vault.isCurrent(sealedSecret)) return false;
    const row = { workspaceId: context.workspaceId, keyId };
    const resealed = vault.seal(openSecret(context, loaded, sealedSecret), row);
    const patch = { sealedSecret: resealed };
    const result = await context.store.updateKey(
      context.workspaceId,
      keyId,
      loaded.key.version,
      patch,
      // The secret stays what it is: nothing that anybody configured has changed.
      NO_CHANGES,
    );
    return result.kind === "stale" ? "stale" : result.kind === "updated";
  });
}

function openSecret(context: OperationContext, { key }: LoadedKey, sealedSecret: string): string {
  const secret = requireVault(context).open(sealedSecret, {
    workspaceId: key.workspaceId,
    keyId: key.id,
  });
  if (!context.hasher.candidates(secret).includes(key.hash))
    throw corruptRecord(`encrypted secret of ${key.id}`);
  return secret;
}
