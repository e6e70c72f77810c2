import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { LatchkeyError } from "@latchkey/core";
import { type Handler, serviceOf } from "../handler.js";
import { NodeRequest } from "../request/node-request.js";
import { type HttpResponse, toWebResponse } from "./http-response.js";
import type { Service } from "./service.js";

/** Answers one request of node:http, as `createServer` and Express call it. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

const BRIDGE_OPTIONS = {
  // For requests without a Host header: the host plays no part in what is answered.
  hostname: "localhost",
  // Replacing the globals Request and Response would change the whole program of the host.
  overrideGlobalObjects: false,
};

/** How long the rest of a body that nobody wants may keep a connection open. */
const LINGER_MS = 500;

/**
 * Makes a listener for node:http out of a handler: for `createServer`, or as a middleware of Express.
 *
 * Express takes the path that it is mounted on off the URL, so `basePath` stays empty there; Fastify and node:http
 * leave it on. A body that a parser of the host has read before is taken as that parser left it in `body`.
 */
export function toNodeListener(handler: Handler): NodeListener {
  const service = serviceOf(handler);
  if (service === undefined) return getRequestListener(handler, BRIDGE_OPTIONS);
  const bridged = getRequestListener(
    async (request, { incoming }) =>
      toWebResponse(await service.respond(new NodeRequest(incoming as IncomingMessage, request))),
    {
      ...BRIDGE_OPTIONS,
      errorHandler: (error) =>
        toWebResponse(
          service.respondToError(error instanceof RequestError ? malformedAddress() : error),
        ),
    },
  );
  return (incoming, outgoing) =>
    service.needsWebRequest || incoming.httpVersionMajor !== 1
      ? bridged(incoming, outgoing)
      : answerDirectly(service, incoming, outgoing);
}

function malformedAddress(): LatchkeyError {
  return new LatchkeyError("BAD_REQUEST", "the address of the request is malformed");
}

/**
 * The way of almost every request: past Request and Response, which only a host's own authentication needs to see
 * and which cost more than a verification.
 */
async function answerDirectly(
  service: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const answer = await service.respond(new NodeRequest(incoming));
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) outgoing.once("finish", () => linger(incoming));
  write(answer, outgoing);
}

function write({ status, headers, body }: HttpResponse, outgoing: ServerResponse): void {
  // With its length node sends head and body in one piece. Added, since a copy is dearer than all other headers.
  headers["content-length"] = String(Buffer.byteLength(body));
  outgoing.writeHead(status, headers);
  outgoing.end(body);
}

/**
 * Lets a client that is still sending read its answer, then hangs up. Hanging up at once would make its system throw
 * the answer away; never hanging up would let it send for ever.
 */
function linger(incoming: IncomingMessage): void {
  const hangUp = setTimeout(() => incoming.destroy(), LINGER_MS);
  incoming.once("close", () => clearTimeout(hangUp)).resume();
}
