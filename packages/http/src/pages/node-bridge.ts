import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeRequest } from "../request/node-request.js";
import { completeRawHeaders } from "../request/raw-headers.js";
import { drainAfter } from "../routing/drain.js";
import { MAX_BODY_BYTES } from "./json-body.js";
import { type PageWords, pageWithoutSlash } from "./page-files.js";
import { refusalOf } from "./refusals.js";
import { refuseMethod } from "./responses.js";
import { noteWrittenByUs } from "./written-by-us.js";

/** A function of web standard requests. */
type Answer = (request: Request) => Promise<Response>;

/** A listener of node:http. It never rejects. */
export type PageListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** A handler as Express calls it. */
type ExpressListener = (
  request: IncomingMessage & { readonly originalUrl: string; readonly path: string },
  response: ServerResponse,
) => Promise<void>;

/** A plugin as Fastify registers it. */
type FastifyPage = (scope: {
  readonly prefix: string;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parse: (request: never, payload: never, done: (error: Error | null) => void) => void,
  ): unknown;
  all(
    path: string,
    answer: (
      request: { readonly raw: IncomingMessage },
      reply: { hijack(): unknown; readonly raw: ServerResponse },
    ) => Promise<void>,
  ): unknown;
}) => Promise<void>;

/** Creates a listener for a page. It accepts a body that a parser of the host has already read. */
export function toNode(answer: Answer): PageListener {
  return async (incoming, outgoing) => {
    completeRawHeaders(incoming);
    drainAfter(outgoing, incoming);
    try {
      const request = await requestOf(incoming);
      const response =
        request instanceof Response ? request : await answer(noteWrittenByUs(request));
      await write(response, outgoing, incoming.method === "HEAD");
    } catch {
      // The client has disconnected, or sent an invalid address.
      if (!outgoing.headersSent) outgoing.writeHead(400);
      outgoing.end();
    }
  };
}

/** `Request` refuses the first three. The others can only be spellings in another case, which are other methods. */
const NOT_OF_REQUESTS = /^(?:connect|trace|track|get|head)$/i;

/** In a host name, these would change where the path begins. */
const NOT_OF_HOSTS = /[/?#\\@]/;

/** The request, or the response to one whose body cannot be read. */
async function requestOf(incoming: IncomingMessage): Promise<Request | Response> {
  const { method = "GET", url = "/", rawHeaders, headers: named } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // Pseudo headers of HTTP/2.
    if (!name.startsWith(":")) headers.append(name, rawHeaders[at + 1] as string);
  }
  // Empty for an address without one (RFC 9110 section 7.2).
  const host = named.host || (named[":authority"] as string | undefined) || "localhost";
  if (NOT_OF_HOSTS.test(host)) throw new TypeError("the host is not valid");
  if (!headers.has("host")) headers.set("host", host);
  // Concatenated, not resolved: a path that begins with two slashes would be read as another host.
  const address = url.startsWith("/")
    ? new URL(`http://${host}${url}`)
    : new URL(url, `http://${host}`);
  if (method === "GET" || method === "HEAD") return new Request(address, { method, headers });
  if (NOT_OF_REQUESTS.test(method)) return refuseMethod("GET, HEAD, POST, DELETE");
  try {
    const body = await new NodeRequest(incoming).readBody(MAX_BODY_BYTES);
    return new Request(address, { method, headers, body: new Uint8Array(body) });
  } catch (error) {
    return refusalOf(error);
  }
}

/** Creates a listener for Express, which removes the path that it is mounted on from the URL. `words`: texts of the page. */
export function toExpress(answer: Answer, words: PageWords): ExpressListener {
  const listen = toNode(answer);
  const listenWithoutSlash = toNode(async () => pageWithoutSlash(words));
  return async (request, response) => {
    const path = request.originalUrl.replace(/[?#].*$/s, "");
    const hasSlash = request.path !== "/" || path.endsWith("/");
    return (hasSlash ? listen : listenWithoutSlash)(request, response);
  };
}

/** Creates a plugin of Fastify from a page. `make`: called with the prefix of the plugin. */
export function toFastify(make: (basePath: string) => Answer): FastifyPage {
  return async (scope) => {
    // Normalised as in URLs: Fastify accepts other characters, and a slash at the end.
    const { pathname } = new URL(`http://localhost${scope.prefix}`);
    const listen = toNode(make(pathname.replace(/\/$/, "")));
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const path of ["/", "/*"])
      scope.all(path, (request, reply) => {
        reply.hijack();
        return listen(request.raw, reply.raw);
      });
  };
}

async function write(response: Response, outgoing: ServerResponse, isHead: boolean): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  // For HEAD it would have to be the length of the response to GET (RFC 9110 section 8.6).
  if (response.status !== 304 && !isHead) headers["content-length"] = String(body.byteLength);
  outgoing.writeHead(response.status, headers);
  outgoing.end(body);
}
