import { LatchkeyError } from "@latchkey/core";
import {
  alreadyRead,
  brokenOff,
  checkAnnouncedLength,
  type HttpRequest,
  joined,
  tooLarge,
} from "./http-request.js";

/** A web standard Request as the service looks at it. */
export class WebRequest implements HttpRequest {
  readonly request: Request;

  constructor(request: Request) {
    this.request = request;
  }

  get method(): string {
    return this.request.method;
  }

  get target(): string {
    return this.request.url;
  }

  header(name: string): string | null {
    return this.request.headers.get(name);
  }

  async readBody(maxBytes: number): Promise<Uint8Array> {
    checkAnnouncedLength(this, maxBytes);
    try {
      const { body } = this.request;
      return body === null ? new Uint8Array() : await readStream(body, maxBytes);
    } catch (error) {
      if (error instanceof LatchkeyError) throw error;
      throw error instanceof TypeError ? alreadyRead(error) : brokenOff(error);
    }
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.byteLength;
    if (size > maxBytes) {
      // Not awaited: a source that takes its time to stop must not hold up the answer.
      reader.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    chunks.push(read.value);
  }
  return joined(chunks, size);
}
