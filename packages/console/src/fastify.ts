import type { Latchkey } from "@latchkey/core";
import type { FastifyInstance } from "fastify";
import { makeConsole } from "./console.js";
import { toNodeConsole } from "./node-bridge.js";
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
  return async (scope) => {
    const answer = toNodeConsole(makeConsole(latchkey, { ...options, basePath: scope.prefix }));
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const path of ["/", "/*"])
      scope.all(path, (request, reply) => {
        reply.hijack();
        return answer(request.raw, reply.raw);
      });
  };
}
