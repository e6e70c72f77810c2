import type { IncomingMessage } from "node:http";
// Imported, because a host's tests with a fake clock replace the global one.
import { setImmediate } from "node:timers";
import {
  alreadyRead,
  BodyCollector,
  brokenOff,
  checkAnnouncedLength,
  type HttpRequest,
  isForm,
  tooLarge,
} from "./http-request.js";

/** A request of node:http. */
export class NodeRequest implements HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly webRequest: Request | null;
  readonly method: string;
  readonly target: string;

  /** `webRequest`: the same request as a Request, if the host authenticates by itself. */
  constructor(incoming: IncomingMessage, webRequest: Request | null = null) {
    this.#incoming = incoming;
    this.webRequest = webRequest;
    this.method = incoming.method ?? "";
    this.target = incoming.url ?? "";
  }

  header(name: string): string | null {
    return rawHeader(this.#incoming.rawHeaders, name);
  }

  async readBody(maxBytes: number): Promise<Uint8Array> {
    checkAnnouncedLength(this, maxBytes);
    const incoming = this.#incoming;
    // Node emits a request before it has read the body that arrived with the head. A turn of the event loop later it has.
    if (!incoming.complete) await new Promise((resolve) => setImmediate(resolve));
    // An empty body emits no data: only its end shows that it was read.
    const wasRead = incoming.readableDidRead || incoming.readableEnded;
    const body = wasRead
      ? bodyParsedByHost(incoming, isForm(this))
      : await readIncoming(incoming, maxBytes);
    if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
    return body;
  }
}

/**
 * Joins all headers of a name, as a Request does. If a header that should occur once (`authorization`, `content-type`) occurs
 * twice, node's own `headers` silently keeps the first: two different tokens would look like one.
 */
function rawHeader(rawHeaders: readonly string[], name: string): string | null {
  let joined: string | null = null;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index] as string;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    const value = rawHeaders[index + 1] as string;
    joined = joined === null ? value : `${joined}, ${value}`;
  }
  return joined;
}

/**
 * A client that disconnects causes `close` without `end`, even if nothing listens for `error`. If it disconnected while authentication
 * waited for the store, `close` has already been emitted, and no further event comes.
 */
function readIncoming(
  incoming: IncomingMessage,
  maxBytes: number,
): Uint8Array | Promise<Uint8Array> {
  if (incoming.destroyed) throw brokenOff();
  // Almost every body is read in one piece, without the events of a stream, which cost more than a verification. On HTTP/2, `complete`
  // proves nothing: it is also true for an aborted request.
  if (incoming.complete && incoming.httpVersionMajor === 1)
    return (incoming.read() as Uint8Array | null) ?? new Uint8Array();
  return new Promise((resolve, reject) => {
    const collector = new BodyCollector(maxBytes);
    function onData(chunk: Uint8Array): void {
      if (collector.add(chunk)) return;
      incoming.off("data", onData).pause();
      reject(tooLarge(maxBytes));
    }
    incoming.on("data", onData);
    incoming.on("end", () => resolve(collector.body()));
    incoming.on("close", () => {
      if (!incoming.readableEnded) reject(brokenOff());
    });
  });
}

/**
 * The body from `body`, where a parser of the host, such as Express's, has left it after reading the stream. Members that were given twice
 * can no longer be detected; everything else is checked as always.
 */
function bodyParsedByHost(
  incoming: IncomingMessage & { readonly body?: unknown },
  wasForm: boolean,
): Uint8Array {
  const { body } = incoming;
  if (body === undefined) {
    if (incoming.readableDidRead) throw alreadyRead();
    return new Uint8Array();
  }
  if (body instanceof Uint8Array) return body;
  const isObject = typeof body === "object" && body !== null;
  return new TextEncoder().encode(wasForm && isObject ? formOf(body) : textOf(body));
}

/** A form as it was sent: a name that occurred twice has a list of texts. Any other value came from a name such as `a[b]`. */
function formOf(fields: object): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const one of [value].flat())
      if (typeof one === "string") form.append(name, one);
      else form.append(`${name}[]`, "");
  return form.toString();
}

function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  try {
    return JSON.stringify(body);
  } catch {
    // Nested too deep to serialise: the empty text is refused as malformed JSON.
    return "";
  }
}
