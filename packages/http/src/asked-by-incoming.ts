import type { IncomingMessage } from "node:http";
import {
  type Asked,
  alreadyRead,
  brokenOff,
  checkAnnouncedLength,
  joined,
  tooLarge,
} from "./asked.js";

/** A request of node:http as the service looks at it. */
export function askedByIncoming(incoming: IncomingMessage, request: Request | null = null): Asked {
  const { rawHeaders } = incoming;
  const asked: Asked = {
    request,
    method: incoming.method ?? "",
    target: incoming.url ?? "",
    header: (name) => rawHeader(rawHeaders, name),
    async readBody(maxBytes) {
      checkAnnouncedLength(asked, maxBytes);
      const bytes = incoming.readableDidRead
        ? parsedBefore(incoming)
        : await readIncoming(incoming, maxBytes);
      if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
      return bytes;
    },
  };
  return asked;
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

function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    function stop(): void {
      incoming.off("data", take).off("end", finish).off("close", fail).off("error", fail);
    }
    function take(chunk: Uint8Array): void {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      stop();
      incoming.pause();
      reject(tooLarge(maxBytes));
    }
    function finish(): void {
      stop();
      resolve(joined(chunks, size));
    }
    function fail(cause?: unknown): void {
      stop();
      reject(brokenOff(cause));
    }
    incoming.on("data", take).on("end", finish).on("close", fail).on("error", fail);
  });
}

/**
 * What a body parser of the host made of a body that is gone from the stream: Express leaves it in `body`. Members
 * given twice can no longer be seen then; everything else is checked as ever.
 */
function parsedBefore(incoming: IncomingMessage & { readonly body?: unknown }): Uint8Array {
  const { body } = incoming;
  if (body === undefined) throw alreadyRead();
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
