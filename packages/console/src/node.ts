import type { Latchkey } from "@latchkey/core";
import { makeConsole } from "./console.js";
import { type NodeConsole, toNodeConsole } from "./node-bridge.js";
import type { ConsoleOptions } from "./options.js";

export type { NodeConsole } from "./node-bridge.js";

/**
 * Makes the console as a listener of node:http.
 *
 * @throws TypeError naming the option that is wrong.
 * @example
 * createServer(createConsole(latchkey, { authenticate })).listen(4000, "127.0.0.1");
 */
export function createConsole(latchkey: Latchkey, options: ConsoleOptions = {}): NodeConsole {
  return toNodeConsole(makeConsole(latchkey, options));
}
