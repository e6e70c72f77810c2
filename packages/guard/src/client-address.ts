import { canonicalAddress } from "@latchkey/core";
import type { PresentedRequest } from "./presented-request.js";

/**
 * The address that a request comes from, in its one form; null where it is not known, which no allow-list holds.
 *
 * Each trusted proxy appends to `X-Forwarded-For` the address that it was called from, so with `n` of them the caller is the
 * one that stands `n` places before the socket. What stands further to the left anybody may have written. A list that is too
 * short, because a request came past the proxies, leaves the address unknown. Ports, brackets and IPv4-mapped forms are read;
 * the header `Forwarded` is not.
 *
 * @param trustProxy - How many proxies stand in front: a whole number >= 0.
 */
export function clientAddress(
  { forwardedFor, remoteAddress }: Pick<PresentedRequest, "forwardedFor" | "remoteAddress">,
  trustProxy: number,
): string | null {
  const address = trustProxy === 0 ? remoteAddress : hopBefore(forwardedFor, trustProxy);
  // A host's function may have found anything.
  return typeof address === "string" ? canonicalAddress(address) : null;
}

/** The hop that many places before the socket. A header that was sent twice is one list, in the order of its lines. */
function hopBefore(forwardedFor: readonly string[], places: number): string | null {
  const hops = forwardedFor.join(",").split(",");
  return hops.at(-places)?.trim() ?? null;
}
