import type { Latchkey } from "@latchkey/core";
import type { Context } from "hono";
import { type FetchConsole, makeConsole } from "./console.js";
import type { ConsoleOptions } from "./options.js";

/** The console as Hono calls it. */
export type HonoConsole = (context: Context) => Promise<Response>;

/**
 * Makes the console for Hono 4. It needs its path twice: Hono keeps it in the address.
 *
 * @throws TypeError naming the option that is wrong.
 * @example
 * app.all("/console/*", createConsole(latchkey, { basePath: "/console", authenticate }));
 */
export function createConsole(latchkey: Latchkey, options: ConsoleOptions = {}): HonoConsole {
  const answer: FetchConsole = makeConsole(latchkey, options);
  return ({ req }) => answer(req.raw);
}
