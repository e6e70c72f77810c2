import { LatchkeyError } from "@latchkey/core";
import {
  alreadyRead,
  BodyCollector,
  brokenOff,
  checkAnnouncedLength,
  type HttpRequest,
  tooLarge,
} from "./http-request.js";

/** A web standard Request. */
export class WebRequest implements HttpRequest {
  readonly webRequest: Request;

  constructor(request: Request) {
    this.webRequest = request;
  }

  get method(): string {
    return this.webRequest.method;
  }

  get target(): string {
    return this.webRequest.url;
  }

  header(name: string): string | null {
    return this.webRequest.headers.get(name);
  }

  async readBody(maxBytes: number): Promise<Uint8Array> {
    checkAnnouncedLength(this, maxBytes);
    const { body, bodyUsed } = this.webRequest;
    if (body === null) return new Uint8Array();
    if (bodyUsed || body.locked) throw alreadyRead();
    try {
      return await readStream(body, maxBytes);
    } catch (error) {
      throw error instanceof LatchkeyError ? error : brokenOff(error);
    }
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  const collector = new BodyCollector(maxBytes);
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (collector.add(read.value)) continue;
    // Not awaited: a source that is slow to stop must not delay the response.
    reader.cancel().catch(() => {});
    throw tooLarge(maxBytes);
  }
  return collector.body();
}
