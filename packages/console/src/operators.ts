import { type Latchkey, LatchkeyError } from "@latchkey/core";
import type { Authenticate, HostCaller } from "@latchkey/http";

/** How operators sign in: by a root key that the page asks for, by the host, or by a printed link. */
export type SignIn = "root-key" | "host" | "link";

/** RFC 6750 section 2.1. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of `Authorization: Bearer <token>`; null if there is none. */
export function bearerOf(request: Request): string | null {
  return BEARER.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
}

/** Recognises root keys. */
export function byRootKey(latchkey: Latchkey): Authenticate {
  return async (request): Promise<HostCaller | null> => {
    const token = bearerOf(request);
    if (token === null) return null;
    const outcome = await latchkey.authenticateRootKey(token);
    if (outcome.kind === "workspace-disabled")
      throw new LatchkeyError("FORBIDDEN", "workspace is disabled");
    if (outcome.kind === "refused") return null;
    const { workspaceId, rootKeyId, permissions } = outcome;
    return { workspaceId, permissions, actor: rootKeyId };
  };
}
