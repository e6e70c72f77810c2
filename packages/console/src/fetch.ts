import type { Latchkey } from "@latchkey/core";
import { type FetchConsole, makeConsole } from "./console.js";
import type { ConsoleOptions } from "./options.js";

export type { FetchConsole } from "./console.js";
export type { ConsoleOptions, Finding } from "./options.js";

/**
 * Creates the console as a function of web standard requests: Next.js, Bun, Deno.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * Bun.serve({ fetch: createConsole(latchkey, { basePath: "/console", authenticate }) });
 */
export function createConsole(latchkey: Latchkey, options: ConsoleOptions = {}): FetchConsole {
  return makeConsole(latchkey, options);
}
