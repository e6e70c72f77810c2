import { LatchkeyError } from "@latchkey/core";

/** A request as the service looks at it, wherever it came from. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as they arrived, with or without scheme and host before them. */
  readonly target: string;
  /** Value of a header, by its name in lower case; several of one name joined by `, `. Null when there is none. */
  header(name: string): string | null;
  /**
   * The whole body.
   *
   * @throws LatchkeyError `PAYLOAD_TOO_LARGE` as soon as it exceeds `maxBytes`, announced or not, without taking the
   * rest; `BAD_REQUEST` when it breaks off.
   * @throws TypeError when someone else has read it before.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** For a host that authenticates by itself; null where the service recognises root keys. */
  readonly request: Request | null;
}

/** Refuses a body whose Content-Length is too much already. */
export function checkAnnouncedLength(asked: Pick<HttpRequest, "header">, maxBytes: number): void {
  const length = asked.header("content-length");
  if (length !== null && /^\d+$/.test(length) && Number(length) > maxBytes)
    throw tooLarge(maxBytes);
}

/**
 * Takes only JSON in UTF-8, and not compressed: a small body that unpacks into a large one would pass the limit.
 *
 * @throws LatchkeyError `UNSUPPORTED_MEDIA_TYPE`.
 */
export function requireJson(asked: Pick<HttpRequest, "header">): void {
  const type = asked.header("content-type") ?? "";
  if (type !== "application/json" && !JSON_TYPE.test(type)) {
    throw new LatchkeyError(
      "UNSUPPORTED_MEDIA_TYPE",
      "Content-Type must be application/json, in UTF-8",
    );
  }
  const encoding = asked.header("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new LatchkeyError("UNSUPPORTED_MEDIA_TYPE", "the body must not be compressed");
  }
}

const JSON_TYPE = /^application\/json *(?:; *charset=(?:utf-8|"utf-8") *)?$/i;

/** The error for a body of more than `maxBytes`. */
export function tooLarge(maxBytes: number): LatchkeyError {
  return new LatchkeyError("PAYLOAD_TOO_LARGE", `the body must be at most ${maxBytes} bytes`);
}

/** The error for a body whose sender went away in the middle. */
export function brokenOff(cause?: unknown): LatchkeyError {
  return new LatchkeyError("BAD_REQUEST", "the body broke off", { cause });
}

/** The error for a body that is gone: a mistake of the host, for its log. */
export function alreadyRead(cause?: unknown): TypeError {
  return new TypeError(
    "the body was read before latchkey saw the request: mount latchkey before body parsers",
    { cause },
  );
}

/** Chunks as one. */
export function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
