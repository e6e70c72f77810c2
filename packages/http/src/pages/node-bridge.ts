import type { IncomingMessage, ServerResponse } from "node:http";
import { pageWithoutSlash } from "./page-files.js";
import { refuse } from "./responses.js";

/** A function of web standard requests. */
type Answer = (request: Request) => Promise<Response>;

/** A listener of node:http. It never rejects. */
export type PageListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** What Express calls. */
type ExpressListener = (
  request: IncomingMessage & { readonly originalUrl: string; readonly path: string },
  response: ServerResponse,
) => Promise<void>;

/** What Fastify registers. */
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

/** Largest body. What is behind a page takes less of most operations. */
const MAX_BODY_BYTES = 1_048_576;

/** A listener of a page, whose body a parser of the host may have read already. */
export function toNode(answer: Answer): PageListener {
  return async (incoming, outgoing) => {
    try {
      const request = await requestOf(incoming);
      const response = request === null ? tooLarge() : await answer(request);
      await write(response, outgoing);
    } catch {
      // The client broke off, or sent an address that is none: nobody is there to be told more.
      if (!outgoing.headersSent) outgoing.writeHead(400);
      outgoing.end();
    }
  };
}

/** Null for a body that is too large. */
async function requestOf(incoming: IncomingMessage): Promise<Request | null> {
  const { method = "GET", url = "/", rawHeaders, headers: named } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // Pseudo headers of HTTP/2.
    if (!name.startsWith(":")) headers.append(name, rawHeaders[at + 1] as string);
  }
  const host = named.host ?? (named[":authority"] as string | undefined) ?? "localhost";
  if (!headers.has("host")) headers.set("host", host);
  const address = new URL(url, `http://${host}`);
  if (method === "GET" || method === "HEAD") return new Request(address, { method, headers });
  const body = await bodyOf(incoming);
  if (body === null) return null;
  return new Request(address, { method, headers, body });
}

async function bodyOf(
  incoming: IncomingMessage & { readonly body?: unknown },
): Promise<Uint8Array<ArrayBuffer> | string | null> {
  const { body } = incoming;
  if (body !== undefined && (incoming.readableDidRead || incoming.readableEnded))
    return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** As Express calls a page, which takes the path that it is mounted on off the address itself. @param title - Of the page. */
export function toExpress(answer: Answer, title: string): ExpressListener {
  const listen = toNode(answer);
  const listenWithoutSlash = toNode(async () => pageWithoutSlash(title));
  return async (request, response) => {
    const path = request.originalUrl.replace(/[?#].*$/s, "");
    const hasSlash = request.path !== "/" || path.endsWith("/");
    return (hasSlash ? listen : listenWithoutSlash)(request, response);
  };
}

/** A page as a plugin of Fastify. @param make - Is told the prefix of the plugin. */
export function toFastify(make: (basePath: string) => Answer): FastifyPage {
  return async (scope) => {
    const listen = toNode(make(scope.prefix));
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const path of ["/", "/*"])
      scope.all(path, (request, reply) => {
        reply.hijack();
        return listen(request.raw, reply.raw);
      });
  };
}

async function write(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  if (response.status !== 304) headers["content-length"] = String(body.byteLength);
  outgoing.writeHead(response.status, headers);
  outgoing.end(body);
}

const tooLarge = () => refuse(413, "PAYLOAD_TOO_LARGE", "the body is too large");
