import { canonicalAddress } from "@latchkey/core";
import type { PresentedRequest } from "./presented-request.js";

/**
 * The normalised address that a request comes from; null if unknown, which matches no allow list.
 *
 * Each trusted proxy appends its caller's address to `X-Forwarded-For`, so with `n` proxies the client is the `n`th entry from the end.
 * Entries further left can be forged. If the list is too short, because a request bypassed the proxies, the address is unknown. Ports,
 * brackets and IPv4-mapped forms are accepted; the header `Forwarded` is ignored.
 *
 * @param trustProxy - Number of proxies in front: a whole number >= 0.
 */
export function clientAddress(
  { forwardedFor, remoteAddress }: Pick<PresentedRequest, "forwardedFor" | "remoteAddress">,
  trustProxy: number,
): string | null {
  const address = trustProxy === 0 ? remoteAddress : hopBefore(forwardedFor, trustProxy);
  // A host's function may return anything.
  return typeof address === "string" ? canonicalAddress(address) : null;
}

/** The hop `places` before the socket. A header that was sent several times is one list, in the order of its lines. */
function hopBefore(forwardedFor: readonly string[], places: number): string | null {
  const hops = forwardedFor.join(",").split(",");
  return hops.at(-places)?.trim() ?? null;
}
