import type { VerifiableKey } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";

/** For whom a verification is done. */
export interface VerifyScope {
  /** Only keys of these APIs exist for this caller; every other is `NOT_FOUND`. Omitted: all of the workspace. */
  readonly apiIds?: readonly string[];
}

/** Every key of the workspace exists. */
export const EVERY_API: VerifyScope = Object.freeze({});

/** Whether a key exists for whom a verification is done. */
export function isVisible(
  { workspaceId }: OperationContext,
  { apiIds }: VerifyScope,
  { key }: Pick<VerifiableKey, "key">,
): boolean {
  return key.workspaceId === workspaceId && (apiIds === undefined || apiIds.includes(key.apiId));
}
