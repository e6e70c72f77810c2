import type { IncomingMessage, ServerResponse } from "node:http";

/** The response to `/`: what this is, and where to find more. The version is not public. */
const ABOUT = JSON.stringify({
  name: "latchkey",
  about: "Issues, verifies and manages API keys.",
  docs: "/v1/docs",
  openapi: "/v1/openapi.json",
  v2: { docs: "/v2/docs", openapi: "/v2/openapi.json" },
  health: "/v1/liveness",
});

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** The same listener, with a response to `/` that says what this is. */
export function withRootPath(listener: Listener): Listener {
  return (incoming, outgoing) => {
    const isRead = incoming.method === "GET" || incoming.method === "HEAD";
    if (!isRead || incoming.url !== "/") return listener(incoming, outgoing);
    outgoing.writeHead(200, { "content-type": "application/json; charset=utf-8" });
    return outgoing.end(incoming.method === "GET" ? ABOUT : undefined);
  };
}
