import type { Latchkey } from "@latchkey/core";
import type { Context } from "hono";
import { type FetchConsole, makeConsole } from "./console.js";
import type { ConsoleOptions } from "./options.js";

/** The console as a handler of Hono. */
export type HonoConsole = (context: Context) => Promise<Response>;

/**
 * Creates the console for Hono 4. It needs its path twice, because Hono keeps it in the URL.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * app.all("/console/*", createConsole(latchkey, { basePath: "/console", authenticate }));
 */
export function createConsole(latchkey: Latchkey, options: ConsoleOptions = {}): HonoConsole {
  const answer: FetchConsole = makeConsole(latchkey, options);
  return ({ req }) => answer(req.raw);
}
