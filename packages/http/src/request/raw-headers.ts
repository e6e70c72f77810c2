import type { IncomingMessage } from "node:http";

/**
 * Fills in the raw headers of a request that has none. A request that a program has built from the event of a serverless platform has only
 * `headers`, but this package and the bridge to `Request` read the raw ones.
 */
export function completeRawHeaders(incoming: IncomingMessage): void {
  if (incoming.rawHeaders?.length !== 0) return;
  // Set on the request itself, because the bridge takes only a real request.
  incoming.rawHeaders = Object.entries(incoming.headers).flatMap(([name, values]) =>
    [values ?? []].flat().flatMap((value) => [name, String(value)]),
  );
}
