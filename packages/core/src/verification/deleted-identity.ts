import type { Refill } from "../rules/refill.js";
import { NO_USES, type Usage } from "../store/counters.js";

/**
 * What a key takes its uses from when the identity that it took them from was deleted: none are left, and nothing restores them.
 * It must not become unlimited.
 *
 * In all else such a key lives on without an owner, and without the limits of the identity.
 *
 * @see packages/core/decisions/0014-shared-uses.md
 */
export const USES_OF_DELETED_IDENTITY: { readonly usage: Usage; readonly refill: Refill | null } = {
  usage: NO_USES,
  refill: null,
};
