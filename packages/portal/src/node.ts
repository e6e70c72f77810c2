import type { Latchkey } from "@latchkey/core";
import { type PageListener, toNode } from "@latchkey/http/pages";
import type { PortalOptions } from "./options.js";
import { makePortal } from "./portal.js";

/** A listener of node:http. It never rejects. */
export type NodePortal = PageListener;

/**
 * Creates the portal as a listener of node:http.
 *
 * @throws TypeError naming the wrong option.
 * @example
 * createServer(createPortal(latchkey, { session })).listen(3000);
 */
export function createPortal(latchkey: Latchkey, options: PortalOptions = {}): NodePortal {
  return toNode(makePortal(latchkey, options));
}
