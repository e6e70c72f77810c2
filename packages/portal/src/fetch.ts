import type { Latchkey } from "@latchkey/core";
import type { PortalOptions } from "./options.js";
import { type FetchPortal, makePortal } from "./portal.js";

export type { FindCustomer, PortalOptions } from "./options.js";
export type { FetchPortal } from "./portal.js";

/**
 * Creates the portal as a function of web standard requests: Next.js, Bun, Deno.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * Bun.serve({ fetch: createPortal(latchkey, { basePath: "/account/keys", session }) });
 */
export function createPortal(latchkey: Latchkey, options: PortalOptions = {}): FetchPortal {
  return makePortal(latchkey, options);
}
