import { isExpired } from "../../rules/expiry.js";
import { secretShape } from "../../secrets/format.js";
import type { OperationContext } from "../context.js";

/** Whom a management token speaks for. */
export type RootKeyOutcome =
  | {
      readonly kind: "authenticated";
      readonly rootKeyId: string;
      readonly workspaceId: string;
      readonly permissions: readonly string[];
    }
  /** Malformed, unknown, expired or switched off: nothing tells which. */
  | { readonly kind: "refused" }
  /** A good token of a workspace that is disabled. */
  | { readonly kind: "workspace-disabled" };

const REFUSED: RootKeyOutcome = { kind: "refused" };

/**
 * Finds out whom a token speaks for. Root keys of every workspace are recognised: the token says which
 * workspace it belongs to. Keys of APIs are not root keys, whatever their permissions.
 *
 * @param token - The presented root key.
 */
export async function authenticateRootKey(
  context: OperationContext,
  token: string,
): Promise<RootKeyOutcome> {
  // Whatever a host's header parsing came to: what is no text is no root key.
  if (typeof token !== "string") return REFUSED;
  const shape = secretShape(token);
  if (shape === "malformed" || shape === "damaged") return REFUSED;
  for (const hash of context.hasher.candidates(token)) {
    const found = await context.store.findRootKey(hash);
    if (found === null) continue;
    const { rootKey, workspace } = found;
    if (!rootKey.switchedOn || isExpired(rootKey.expiresAt, context.now())) return REFUSED;
    if (!workspace.enabled) return { kind: "workspace-disabled" };
    const { id: rootKeyId, workspaceId, permissions } = rootKey;
    return { kind: "authenticated", rootKeyId, workspaceId, permissions };
  }
  return REFUSED;
}
