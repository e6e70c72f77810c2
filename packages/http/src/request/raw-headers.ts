import type { IncomingMessage } from "node:http";

/**
 * Gives a request its raw headers, if it has none. A request that a program has made of the event of a serverless platform has its headers by
 * name alone, and everything here, and the bridge to `Request`, reads the raw ones.
 */
export function completeRawHeaders(incoming: IncomingMessage): void {
  if (incoming.rawHeaders?.length !== 0) return;
  // In the request itself: the bridge takes nothing else.
  incoming.rawHeaders = Object.entries(incoming.headers).flatMap(([name, values]) =>
    [values ?? []].flat().flatMap((value) => [name, String(value)]),
  );
}
