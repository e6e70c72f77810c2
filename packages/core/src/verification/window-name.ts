import type { LimitKind } from "../rules/limit-state.js";
import { kindText } from "../rules/limit-state.js";
import { sha256Text } from "../secrets/hash.js";

/** Name of the window of a configured limit, among the counters of its owner. */
export function configuredWindow(limit: LimitKind & { readonly name: string }): string {
  return `${kindText(limit)}:${encodeURIComponent(limit.name)}`;
}

/** Name of the window of an ad hoc limit of a request. The keys of a rotation share it. */
export function adHocWindow(
  sharedCountersId: string,
  limit: LimitKind & { readonly name: string },
): string {
  return `a:${sharedCountersId}:${configuredWindow(limit)}`;
}

/** Name of the window of a limit without a key. Identifiers can have any length and alphabet, so a digest is used. */
export function namespaceWindow(namespace: string, identifier: string, limit: LimitKind): string {
  return `n:${kindText(limit)}:${sha256Text(JSON.stringify([namespace, identifier]))}`;
}
