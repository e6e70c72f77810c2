import type { IncomingMessage } from "node:http";
import {
  alreadyRead,
  brokenOff,
  checkAnnouncedLength,
  type HttpRequest,
  joined,
  tooLarge,
} from "./http-request.js";

/** A request of node:http as the service looks at it. */
export class NodeRequest implements HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly request: Request | null;
  readonly method: string;
  readonly target: string;

  /** @param request - The same as a Request, where a host needs to see one. */
  constructor(incoming: IncomingMessage, request: Request | null = null) {
    this.#incoming = incoming;
    this.request = request;
    this.method = incoming.method ?? "";
    this.target = incoming.url ?? "";
  }

  header(name: string): string | null {
    return rawHeader(this.#incoming.rawHeaders, name);
  }

  async readBody(maxBytes: number): Promise<Uint8Array> {
    checkAnnouncedLength(this, maxBytes);
    const incoming = this.#incoming;
    // Of an empty body nothing is ever read: that it is over shows by its end alone.
    const isReadBefore = incoming.readableDidRead || incoming.readableEnded;
    const bytes = isReadBefore ? parsedBefore(incoming) : await readIncoming(incoming, maxBytes);
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  }
}

/**
 * Joins all headers of a name, as a Request does. Of a header that should be there once (`authorization`,
 * `content-type`) node's own `headers` silently keeps the first, so that two different tokens would look like one.
 */
function rawHeader(rawHeaders: readonly string[], name: string): string | null {
  let joinedValue: string | null = null;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index] as string;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    const value = rawHeaders[index + 1] as string;
    joinedValue = joinedValue === null ? value : `${joinedValue}, ${value}`;
  }
  return joinedValue;
}

/**
 * A client that goes away shows as `close` without `end`; whoever listens to that need not listen to `error`. One that
 * went while authentication waited for the store has closed already, and no event will come any more.
 */
function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  if (incoming.destroyed) return Promise.reject(brokenOff());
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    function take(chunk: Uint8Array): void {
      size += chunk.byteLength;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      incoming.off("data", take).pause();
      reject(tooLarge(maxBytes));
    }
    incoming.on("data", take);
    incoming.on("end", () => resolve(joined(chunks, size)));
    incoming.on("close", () => {
      if (!incoming.readableEnded) reject(brokenOff());
    });
  });
}

/**
 * What a body parser of the host made of a body that is gone from the stream: Express leaves it in `body`. Members
 * given twice can no longer be seen then; everything else is checked as ever.
 */
function parsedBefore(incoming: IncomingMessage & { readonly body?: unknown }): Uint8Array {
  const { body } = incoming;
  if (body === undefined) {
    if (incoming.readableDidRead) throw alreadyRead();
    return new Uint8Array();
  }
  return body instanceof Uint8Array ? body : new TextEncoder().encode(textOf(body));
}

function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  try {
    return JSON.stringify(body);
  } catch {
    // Nested too deep to be written: refused as JSON that is not well-formed.
    return "";
  }
}
