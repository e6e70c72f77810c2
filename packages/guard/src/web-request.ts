import type { PresentedRequest } from "./presented-request.js";
import type { HeaderFields } from "./rate-limit-fields.js";
import type { Refused } from "./refusal.js";

/**
 * What the headers of a web standard request present. A header that was sent twice arrives as one value, joined by a comma and a space,
 * and so is malformed.
 *
 * @param remoteAddress - Address of the connection; null if the runtime does not provide it.
 */
export function presentedByHeaders(
  headers: Headers,
  remoteAddress: string | null,
): PresentedRequest {
  const values = (name: string) => {
    const value = headers.get(name);
    return value === null ? [] : [value];
  };
  return {
    authorization: values("authorization"),
    apiKey: values("x-api-key"),
    forwardedFor: values("x-forwarded-for"),
    remoteAddress,
  };
}

/** The response to a refusal. */
export function refusedResponse({ status, headers, body }: Refused): Response {
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? body : null, { status, headers });
}

/**
 * Adds header fields to a response, except those that it already has. If its headers are immutable (a redirect, a fetched response), the
 * result is a copy with the same body.
 */
export function withHeaders(response: Response, fields: HeaderFields): Response {
  const missing = Object.entries(fields).filter(([name]) => !response.headers.has(name));
  // A switched protocol (101) cannot be copied, and needs no fields about limits.
  if (missing.length === 0 || response.status < 200) return response;
  try {
    for (const [name, value] of missing) response.headers.set(name, value);
    return response;
  } catch {
    const copy = copyOf(response, response.body);
    for (const [name, value] of missing) copy.headers.set(name, value);
    return copy;
  }
}

/** A body that the host drops silently counts as ended when it is garbage-collected. */
const dropped = new FinalizationRegistry<() => void>((end) => end());

/**
 * Answers a request, and calls `end` when the response is over: when its body was read to the end or cancelled, at once if there is no body
 * to send, and also if the client disconnects or `answer` fails. May call it more than once.
 *
 * The end of a switched protocol (101) cannot be seen: such a response is over at once.
 *
 * @param answer - Throws or rejects if the host's handler does.
 */
export async function untilBodyEnds(
  request: Pick<Request, "method" | "signal">,
  answer: () => Response | Promise<Response>,
  end: () => void,
): Promise<Response> {
  const { signal } = request;
  const ended = (): void => {
    signal?.removeEventListener("abort", ended);
    end();
  };
  if (signal?.aborted === true) ended();
  else signal?.addEventListener("abort", ended);
  try {
    const response = await answer();
    const watched = withWatchedBody(request, response, ended);
    if (watched !== null) return watched;
    ended();
    return response;
  } catch (error) {
    ended();
    throw error;
  }
}

/** The response, with a body whose end calls `ended`; null if it has no body to send. */
export function withWatchedBody(
  { method }: Pick<Request, "method">,
  response: Response,
  ended: () => void,
): Response | null {
  // Hosts respond to HEAD without the body, and do not always cancel it.
  const body = method === "HEAD" || response.bodyUsed ? null : response.body;
  return body === null || body.locked ? null : copyOf(response, untilRead(body, ended));
}

/** The same stream, pulled only when it is read. Calls `ended` when it was read to the end, cancelled or has failed. */
export function untilRead<Chunk>(
  body: ReadableStream<Chunk>,
  ended: () => void,
): ReadableStream<Chunk> {
  const reader = body.getReader();
  const stream = new ReadableStream<Chunk>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          ended();
          controller.close();
        } catch (error) {
          ended();
          throw error;
        }
      },
      cancel(reason) {
        ended();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  dropped.register(stream, ended);
  return stream;
}

/** A response with headers of its own: some hosts replace `Response` by a class that would share them. */
function copyOf(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array> | null,
): Response {
  return new Response(body, { status, statusText, headers: new Headers(headers) });
}
