import { type OperationContext, requireVault } from "../context.js";
import type { KeyCredential } from "./build.js";
import { type ImportedKey, startOf } from "./import-input.js";

/** A {@link KeyCredential} of an imported secret. */
export type ImportCredential = KeyCredential & { readonly importMarks: readonly string[] };

/**
 * What is stored of the secret of an imported key.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` for `recoverable` without a vault.
 */
export function credentialOf(context: OperationContext, imported: ImportedKey): ImportCredential {
  const { workspaceId, hasher } = context;
  const { hash, plaintext, recoverable } = imported;
  const keyId = context.newId("key");
  return {
    keyId,
    // The schema has it that one of the two is there.
    hash: hash ?? hasher.hash(plaintext as string),
    importMarks: hasher.importMarks(hash ?? hasher.plainHash(plaintext as string)),
    start: startOf(imported),
    sealedSecret: recoverable
      ? requireVault(context).seal(plaintext as string, { workspaceId, keyId })
      : null,
  };
}

/** Other hashes than the one that is stored by which a secret may be known: that of an earlier pepper, or the plain one. */
export function earlierHashes(
  { hasher }: Pick<OperationContext, "hasher">,
  { plaintext }: ImportedKey,
): readonly string[] {
  return plaintext === undefined ? [] : hasher.candidates(plaintext).slice(1);
}

/** The field that the secret of an imported key came in. */
export function secretField({ plaintext }: ImportedKey): "hash" | "plaintext" {
  return plaintext === undefined ? "hash" : "plaintext";
}
