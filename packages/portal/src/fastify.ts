import type { Latchkey } from "@latchkey/core";
import { toFastify } from "@latchkey/http/pages";
import type { FastifyInstance } from "fastify";
import { checkOptions, type PortalOptions } from "./options.js";
import { makePortal } from "./portal.js";

/** Without `basePath`, because Fastify passes the prefix to the plugin. */
export type FastifyPortalOptions = Omit<PortalOptions, "basePath">;

/** The portal as a Fastify plugin. */
export type FastifyPortal = (scope: FastifyInstance) => Promise<void>;

/**
 * Creates the portal for Fastify 5, below the prefix of the plugin.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * app.register(createPortal(latchkey, { session }), { prefix: "/account/keys" });
 */
export function createPortal(
  latchkey: Latchkey,
  options: FastifyPortalOptions = {},
): FastifyPortal {
  checkOptions(options);
  return toFastify((basePath) => makePortal(latchkey, { ...options, basePath }));
}
