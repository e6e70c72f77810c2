import { createKeyCache } from "../lib/lru-cache.js";
import type { OperationContext } from "../operations/context.js";
import { createSecretHasher } from "../secrets/hash.js";
import type { KeyStore } from "../store/wide-store.js";

/** What operations work with, for rules that ask no store; ids are numbered. */
export function contextWith(fields: Partial<OperationContext> = {}): OperationContext {
  let ids = 0;
  return {
    store: Object.freeze({}) as KeyStore,
    workspaceId: "ws_default",
    now: () => 1_000,
    newId: (kind) => {
      ids += 1;
      return `${kind}_${ids}`;
    },
    random: (size) => new Uint8Array(size),
    hasher: createSecretHasher(null),
    vault: null,
    cache: createKeyCache(0),
    apis: createKeyCache(0),
    actor: null,
    keepsAuditLog: true,
    onEvent: null,
    counter: null,
    ...fields,
  };
}
