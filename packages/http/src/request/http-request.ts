import { LatchkeyError } from "@latchkey/core";

/** A request as the service reads it, from a web standard Request or from node:http. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as received, with or without scheme and host before them. */
  readonly target: string;
  /** Value of a header, by its name in lower case; several of one name joined by `, `. Null if there is none. */
  header(name: string): string | null;
  /**
   * Reads the whole body.
   *
   * @throws LatchkeyError `PAYLOAD_TOO_LARGE` as soon as the body exceeds `maxBytes`, whether or not its length was announced: the rest is
   * not read, and what was read is dropped. `BAD_REQUEST` if the body ends early.
   * @throws TypeError if something else has read the body before.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** For a host that authenticates by itself; null if root keys are used. */
  readonly webRequest: Request | null;
}

/** Refuses a body whose Content-Length is too large. */
export function checkAnnouncedLength(request: Pick<HttpRequest, "header">, maxBytes: number): void {
  const length = request.header("content-length");
  if (length !== null && DIGITS.test(length) && Number(length) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * Accepts only JSON in UTF-8 without compression: a small compressed body could unpack into one beyond the limit.
 *
 * @throws LatchkeyError `UNSUPPORTED_MEDIA_TYPE`.
 */
export function requireJson(request: Pick<HttpRequest, "header">): void {
  requireType(request, JSON_MEDIA, JSON_TYPE);
}

/** Accepts only a form in UTF-8 without compression, like {@link requireJson} for JSON. */
export function requireForm(request: Pick<HttpRequest, "header">): void {
  requireType(request, FORM_MEDIA, FORM_TYPE);
}

function requireType(request: Pick<HttpRequest, "header">, media: string, pattern: RegExp): void {
  const type = request.header("content-type") ?? "";
  if (type !== media && !pattern.test(type)) {
    throw new LatchkeyError("UNSUPPORTED_MEDIA_TYPE", `Content-Type must be ${media}, in UTF-8`);
  }
  const encoding = request.header("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new LatchkeyError("UNSUPPORTED_MEDIA_TYPE", "the body must not be compressed");
  }
}

const DIGITS = /^\d+$/;
const JSON_MEDIA = "application/json";
const JSON_TYPE = /^application\/json *(?:; *charset=(?:utf-8|"utf-8") *)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:; *charset=(?:utf-8|"utf-8") *)?$/i;

/** Whether a request says that its body is a form, in UTF-8. */
export function isForm(request: Pick<HttpRequest, "header">): boolean {
  return FORM_TYPE.test(request.header("content-type") ?? "");
}

/** Media type of a form. */
export const FORM_MEDIA = "application/x-www-form-urlencoded";

/** The error for a body of more than `maxBytes`. */
export function tooLarge(maxBytes: number): LatchkeyError {
  return new LatchkeyError("PAYLOAD_TOO_LARGE", `the body must be at most ${maxBytes} bytes`);
}

/** The error for a client that disconnected before the end of its body. */
export function brokenOff(cause?: unknown): LatchkeyError {
  return new LatchkeyError("BAD_REQUEST", "the body was cut off", { cause });
}

/** The error for a body that something else has already read: a mistake of the host, for its log. */
export function alreadyRead(): TypeError {
  return new TypeError(
    "the body was read before latchkey saw the request: mount latchkey before body parsers",
  );
}

/** Collects the chunks of a body up to a limit. */
export class BodyCollector {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns False as soon as the limit is exceeded: everything collected so far is dropped then. */
  add(chunk: Uint8Array): boolean {
    this.#size += chunk.byteLength;
    if (this.#size <= this.#maxBytes) this.#chunks.push(chunk);
    else this.#chunks = [];
    return this.#size <= this.#maxBytes;
  }

  /** The whole body. */
  body(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const body = new Uint8Array(this.#size);
    let offset = 0;
    for (const chunk of this.#chunks) {
      body.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return body;
  }
}
