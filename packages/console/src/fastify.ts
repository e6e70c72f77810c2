import type { Latchkey } from "@latchkey/core";
import { toFastify } from "@latchkey/http/pages";
import type { FastifyInstance } from "fastify";
import { makeConsole } from "./console.js";
import { type ConsoleOptions, checkOptions } from "./options.js";

/** Without `basePath`, because Fastify passes the prefix to the plugin. */
export type FastifyConsoleOptions = Omit<ConsoleOptions, "basePath">;

/** The console as a Fastify plugin. */
export type FastifyConsole = (scope: FastifyInstance) => Promise<void>;

/**
 * Creates the console for Fastify 5, below the prefix of the plugin.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * app.register(createConsole(latchkey, { authenticate }), { prefix: "/console" });
 */
export function createConsole(
  latchkey: Latchkey,
  options: FastifyConsoleOptions = {},
): FastifyConsole {
  checkOptions(options);
  return toFastify((basePath) => makeConsole(latchkey, { ...options, basePath }));
}
