import type { Latchkey } from "@latchkey/core";
import { toExpress } from "@latchkey/http/pages";
import type { Request, Response } from "express";
import type { PortalOptions } from "./options.js";
import { makePortal, titleOf } from "./portal.js";

/** What Express mounts the portal on, it takes off the address itself. */
export type ExpressPortalOptions = Omit<PortalOptions, "basePath">;

/** The portal as Express calls it. */
export type ExpressPortal = (request: Request, response: Response) => Promise<void>;

/**
 * Makes the portal for Express 4 and 5, on any path.
 *
 * @throws TypeError naming the option that is wrong.
 * @example
 * app.use("/account/keys", createPortal(latchkey, { session }));
 */
export function createPortal(
  latchkey: Latchkey,
  options: ExpressPortalOptions = {},
): ExpressPortal {
  return toExpress(makePortal(latchkey, options), titleOf(options));
}
