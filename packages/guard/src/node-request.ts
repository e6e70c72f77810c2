import type { PresentedRequest } from "./presented-request.js";
import type { Admission, Decision, Refused } from "./refusal.js";
import { whenResponseEnds } from "./response-end.js";

/** The part of a `node:http` request that a guard reads. A request of `node:http2` has it as well. */
export interface NodeRequest {
  readonly rawHeaders: readonly string[];
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** The part of a response that a guard writes. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  getHeaderNames(): readonly string[];
  end(body: string): unknown;
  destroy(): unknown;
  /** Only on HTTP/2. */
  readonly stream?: { close(code: number): unknown };
}

/**
 * What a request of `node:http` presents. It reads the raw headers: in `headers`, Node drops the second of two equal names, or joins both.
 *
 * @throws TypeError if there is no list of raw headers: some stand-ins for a request have only `headers`.
 */
export function presentedByNode(request: NodeRequest): PresentedRequest {
  const { socket } = request;
  const rawHeaders = fieldsOf(request);
  const authorization: string[] = [];
  const apiKey: string[] = [];
  const forwardedFor: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] as string;
    switch ((rawHeaders[index] as string).toLowerCase()) {
      case "authorization":
        authorization.push(value);
        break;
      case "x-api-key":
        apiKey.push(value);
        break;
      case "x-forwarded-for":
        forwardedFor.push(value);
        break;
    }
  }
  // A request whose connection is gone may have no socket.
  return { authorization, apiKey, forwardedFor, remoteAddress: socket?.remoteAddress ?? null };
}

/**
 * Names and values of the headers, alternating. A request that a program has built from the event of a serverless platform was not read
 * from a connection: its list of raw headers is empty, and only `headers` is filled.
 */
function fieldsOf(request: NodeRequest): readonly string[] {
  const { rawHeaders } = request;
  if (!Array.isArray(rawHeaders))
    throw new TypeError(
      'a request must have "rawHeaders": is this guard from the entry for your framework?',
    );
  if (rawHeaders.length > 0) return rawHeaders;
  return Object.entries(request.headers ?? {}).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => (typeof value === "string" ? [name, value] : [])),
  );
}

/** Ends what is held for an admitted request when its response ends; at once if the response cannot report its end. */
export function watchResponse(
  request: NodeRequest,
  response: unknown,
  { end }: Pick<Admission, "end">,
): void {
  if (end !== undefined && !whenResponseEnds(request, response, end)) end();
}

/** Headers that describe the body, except its type. A response with another body must not send them. */
const BODY_HEADERS = [
  "Content-Encoding",
  "Content-Language",
  "Content-Length",
  "Content-Range",
  "Trailer",
  "Transfer-Encoding",
];

/** Whether a header describes the body, other than by its type. */
export function isOfBody(name: string): boolean {
  return BODY_HEADERS.some((one) => one.toLowerCase() === name.toLowerCase());
}

/** Adds the header fields of an admission, unless headers were sent already. */
export function writeHeaders(response: NodeResponse, { headers }: Pick<Decision, "headers">): void {
  if (response.headersSent) return;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/**
 * Sends a refusal, unless the host has responded in the meantime.
 *
 * @param hadBegun - Whether the host had begun the response before the guard was called, for the route to go on with. Then nobody else
 * would end it, so it is aborted.
 */
export function writeRefusal(response: NodeResponse, refusal: Refused, hadBegun = false): void {
  if (response.writableEnded) return;
  if (response.headersSent) {
    if (hadBegun) abort(response);
    return;
  }
  response.statusCode = refusal.status;
  writeHeaders(response, refusal);
  response.end(refusal.body);
}

/** Sends a refusal instead of a failed response or handler. A response that has started is aborted, so that it does not look complete. */
function writeRefusalInstead(response: NodeResponse, refusal: Refused): void {
  if (response.writableEnded) return;
  if (response.headersSent) {
    abort(response);
    return;
  }
  for (const name of BODY_HEADERS) response.removeHeader(name);
  writeRefusal(response, refusal);
}

/**
 * Responds to a failure of the host. If the refusal from its hook cannot be sent, the response is bare. Never rejects, because Node would
 * end the process.
 */
export async function writeFailure(
  response: NodeResponse,
  refusal: Promise<Refused>,
): Promise<void> {
  try {
    writeRefusalInstead(response, await refusal);
  } catch {
    writeBare(response);
  }
}

function writeBare(response: NodeResponse): void {
  try {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.statusCode = 500;
    response.end("");
  } catch {
    abort(response);
  }
}

/** The HTTP/2 error code for a failure of the server. */
const INTERNAL_ERROR = 2;

/** Aborts a response. Over HTTP/2, with an error code: a stream that is only destroyed ends like a complete one. */
function abort(response: NodeResponse): void {
  if (typeof response.stream?.close === "function") response.stream.close(INTERNAL_ERROR);
  else response.destroy();
}
