import type { PresentedRequest } from "./presented-request.js";
import type { Decision, Refused } from "./refusal.js";

/** The part of a request of `node:http` that a guard reads. That of `node:http2` has it as well. */
export interface NodeRequest {
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** The part of a response that a guard writes. */
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/**
 * What a request of `node:http` presents. Read from the raw headers: of a header that was sent twice, Node drops the second or
 * joins both.
 */
export function presentedByNode({ rawHeaders, socket }: NodeRequest): PresentedRequest {
  const authorization: string[] = [];
  const apiKey: string[] = [];
  const forwardedFor: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] as string;
    switch (rawHeaders[index]?.toLowerCase()) {
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
  return { authorization, apiKey, forwardedFor, remoteAddress: socket.remoteAddress ?? null };
}

/** Adds the header fields of a decision to a response that nothing was written to yet. */
export function writeHeaders(response: NodeResponse, { headers }: Pick<Decision, "headers">): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/** Answers a refusal. */
export function writeRefusal(response: NodeResponse, refusal: Refused): void {
  response.statusCode = refusal.status;
  writeHeaders(response, refusal);
  response.end(refusal.body);
}

/** The headers that are about the body that was to be sent. */
const BODY_HEADERS = ["Content-Encoding", "Content-Language", "Content-Length", "Content-Range"];

/** The part of a response that a refusal takes over from a handler that failed. */
export interface StartedResponse extends NodeResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  removeHeader(name: string): unknown;
  destroy(): unknown;
}

/** Answers a refusal in place of a handler that failed. What was begun to be sent is broken off: it must not look whole. */
export function writeRefusalInstead(response: StartedResponse, refusal: Refused): void {
  if (response.writableEnded) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of BODY_HEADERS) response.removeHeader(name);
  writeRefusal(response, refusal);
}
