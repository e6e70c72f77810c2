import type { Latchkey } from "@latchkey/core";
import type { Context } from "hono";
import type { PortalOptions } from "./options.js";
import { makePortal } from "./portal.js";

/** The portal as a handler of Hono. */
export type HonoPortal = (context: Context) => Promise<Response>;

/**
 * Creates the portal for Hono 4. It needs its path twice, because Hono keeps it in the URL.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * app.all("/account/keys/*", createPortal(latchkey, { basePath: "/account/keys", session }));
 */
export function createPortal(latchkey: Latchkey, options: PortalOptions = {}): HonoPortal {
  const answer = makePortal(latchkey, options);
  return ({ req }) => answer(req.raw);
}
