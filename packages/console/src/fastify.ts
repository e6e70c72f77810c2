import type { Latchkey } from "@latchkey/core";
import { toFastify } from "@latchkey/http/pages";
import type { FastifyInstance } from "fastify";
import { makeConsole } from "./console.js";
import { type ConsoleOptions, checkOptions } from "./options.js";

/** Fastify hands a plugin its prefix. */
export type FastifyConsoleOptions = Omit<ConsoleOptions, "basePath">;

/** The console as a plugin of Fastify. */
export type FastifyConsole = (scope: FastifyInstance) => Promise<void>;

/**
 * Makes the console for Fastify 5, below the prefix of the plugin.
 *
 * @throws TypeError naming the option that is wrong.
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
