import type { Latchkey } from "@latchkey/core";
import { toExpress } from "@latchkey/http/pages";
import type { Request, Response } from "express";
import { makeConsole, WORDS } from "./console.js";
import type { ConsoleOptions } from "./options.js";

/** Without `basePath`, because Express removes the path that it mounts the console on. */
export type ExpressConsoleOptions = Omit<ConsoleOptions, "basePath">;

/** The console as a handler of Express. */
export type ExpressConsole = (request: Request, response: Response) => Promise<void>;

/**
 * Creates the console for Express 4 and 5, on any path.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * app.use("/console", createConsole(latchkey, { authenticate }));
 */
export function createConsole(
  latchkey: Latchkey,
  options: ExpressConsoleOptions = {},
): ExpressConsole {
  return toExpress(makeConsole(latchkey, options), WORDS);
}
