import type { Latchkey } from "@latchkey/core";
import { toExpress } from "@latchkey/http/pages";
import type { Request, Response } from "express";
import type { PortalOptions } from "./options.js";
import { makePortal, wordsOf } from "./portal.js";

/** Without `basePath`, because Express removes the path that it mounts the portal on. */
export type ExpressPortalOptions = Omit<PortalOptions, "basePath">;

/** The portal as a handler of Express. */
export type ExpressPortal = (request: Request, response: Response) => Promise<void>;

/**
 * Creates the portal for Express 4 and 5, on any path.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * app.use("/account/keys", createPortal(latchkey, { session }));
 */
export function createPortal(
  latchkey: Latchkey,
  options: ExpressPortalOptions = {},
): ExpressPortal {
  return toExpress(makePortal(latchkey, options), wordsOf(options));
}
