import type { Latchkey } from "@latchkey/core";
import { toFastify } from "@latchkey/http/pages";
import type { FastifyInstance } from "fastify";
import { checkOptions, type PortalOptions } from "./options.js";
import { makePortal } from "./portal.js";

/** Fastify hands a plugin its prefix. */
export type FastifyPortalOptions = Omit<PortalOptions, "basePath">;

/** The portal as a plugin of Fastify. */
export type FastifyPortal = (scope: FastifyInstance) => Promise<void>;

/**
 * Makes the portal for Fastify 5, below the prefix of the plugin.
 *
 * @throws TypeError naming the option that is wrong.
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
