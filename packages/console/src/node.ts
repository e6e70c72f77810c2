import type { Latchkey } from "@latchkey/core";
import { type PageListener, toNode } from "@latchkey/http/pages";
import { makeConsole } from "./console.js";
import type { ConsoleOptions } from "./options.js";

/** A listener of node:http. It never rejects. */
export type NodeConsole = PageListener;

/**
 * Creates the console as a listener of node:http.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * createServer(createConsole(latchkey, { authenticate })).listen(4000, "127.0.0.1");
 */
export function createConsole(latchkey: Latchkey, options: ConsoleOptions = {}): NodeConsole {
  return toNode(makeConsole(latchkey, options));
}
