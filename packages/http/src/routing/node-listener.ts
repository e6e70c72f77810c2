import type { IncomingMessage, ServerResponse } from "node:http";
import { LatchkeyError } from "@latchkey/core";
import { type Handler, serviceOf } from "../handler.js";
import { NodeRequest } from "../request/node-request.js";
import { completeRawHeaders } from "../request/raw-headers.js";
import { drainAfter } from "./drain.js";
import { type HttpResponse, toWebResponse } from "./http-response.js";
import { once } from "./once.js";
import type { Service } from "./service.js";

/** Responds to one request of node:http, as `createServer` and Express call it. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

const BRIDGE_OPTIONS = {
  // For requests without a Host header. The response does not depend on the host.
  hostname: "localhost",
  // Replacing the globals Request and Response would affect the host's whole program.
  overrideGlobalObjects: false,
};

/**
 * Creates a listener for node:http from a handler: for `createServer`, or as middleware of Express.
 *
 * Express removes the path that it is mounted on from the URL, so `basePath` stays empty there; Fastify and node:http keep it.
 * If a parser of the host has already read the body, the listener uses the result in `body`.
 *
 * @throws TypeError if the handler is not a function.
 */
export function toNodeListener(handler: Handler): NodeListener {
  if (typeof handler !== "function")
    throw new TypeError('"handler" must be a function, such as the one that createHandler returns');
  const service = serviceOf(handler);
  const bridge = once(() => (service === undefined ? bridgeTo(handler) : bridgeToService(service)));
  return async (incoming, outgoing) => {
    completeRawHeaders(incoming);
    if (service !== undefined) {
      if (!service.needsWebRequest && incoming.httpVersionMajor === 1)
        return respondDirectly(service, incoming, outgoing);
      drainAfter(outgoing, incoming);
    }
    return (await bridge())(incoming, outgoing);
  };
}

/** Loads the bridge from node:http to `Request` at the first request that needs it: loading it takes longer than this whole package. */
async function bridgeTo(handler: Handler): Promise<NodeListener> {
  const { getRequestListener } = await import("@hono/node-server");
  return getRequestListener(handler, BRIDGE_OPTIONS);
}

async function bridgeToService(service: Service): Promise<NodeListener> {
  const { getRequestListener, RequestError } = await import("@hono/node-server");
  return getRequestListener(
    async (request, { incoming }) =>
      toWebResponse(await service.respond(new NodeRequest(incoming as IncomingMessage, request))),
    {
      ...BRIDGE_OPTIONS,
      // Otherwise it would read up to 64 MiB of an unwanted body.
      autoCleanupIncoming: false,
      errorHandler: (error) =>
        toWebResponse(
          service.respondToError(error instanceof RequestError ? malformedAddress() : error),
        ),
    },
  );
}

function malformedAddress(): LatchkeyError {
  return new LatchkeyError("BAD_REQUEST", "the address of the request is malformed");
}

/**
 * The path of almost every request: without Request and Response, which only a host's own authentication needs, and which cost more than a
 * verification.
 */
async function respondDirectly(
  service: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const response = await service.respond(new NodeRequest(incoming));
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) drainAfter(outgoing, incoming);
  write(response, outgoing);
}

function write({ status, headers, body }: HttpResponse, outgoing: ServerResponse): void {
  // With a length, node sends head and body in one piece. Set in place, because a copy would cost more than all other headers.
  headers["content-length"] = String(Buffer.byteLength(body));
  outgoing.writeHead(status, headers);
  outgoing.end(body);
}
