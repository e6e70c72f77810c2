import type { Latchkey } from "@latchkey/core";
import type { Request, Response } from "express";
import { makeConsole } from "./console.js";
import { toNodeConsole } from "./node-bridge.js";
import type { ConsoleOptions } from "./options.js";
import { pageWithoutSlash } from "./page-files.js";

/** What Express mounts the console on, it takes off the address itself. */
export type ExpressConsoleOptions = Omit<ConsoleOptions, "basePath">;

/** The console as Express calls it. */
export type ExpressConsole = (request: Request, response: Response) => Promise<void>;

/**
 * Makes the console for Express 4 and 5, on any path.
 *
 * @throws TypeError naming the option that is wrong.
 * @example
 * app.use("/console", createConsole(latchkey, { authenticate }));
 */
export function createConsole(
  latchkey: Latchkey,
  options: ExpressConsoleOptions = {},
): ExpressConsole {
  const answer = toNodeConsole(makeConsole(latchkey, options));
  const answerWithoutSlash = toNodeConsole(async () => pageWithoutSlash());
  return async (request, response) => {
    const path = request.originalUrl.replace(/[?#].*$/s, "");
    const hasSlash = request.path !== "/" || path.endsWith("/");
    return (hasSlash ? answer : answerWithoutSlash)(request, response);
  };
}
