import { isOfBody, type NodeRequest, type NodeResponse } from "./node-request.js";
import type { HeaderFields } from "./rate-limit-fields.js";

/** A response of a framework on Express or Fastify. */
interface FastifyLike {
  readonly raw: NodeResponse;
  readonly sent: boolean;
  header(name: string, value: string): unknown;
}

/** The request of Node, from itself or from Fastify's wrapper. */
export function rawRequest(request: unknown): NodeRequest {
  return (rawOf(request) ?? request) as NodeRequest;
}

/** The response of Node, whose end can be observed; undefined if there is none. */
export function rawResponse(response: unknown): NodeResponse | undefined {
  const raw = rawOf(response) ?? response;
  return typeof (raw as NodeResponse | null | undefined)?.setHeader === "function"
    ? (raw as NodeResponse)
    : undefined;
}

/**
 * Sets header fields of a response that the framework sends later, unless its headers were sent already. Fields about the body are left
 * out, because the body is the framework's: for a `Trailer` without trailers, Node would throw where nobody catches it.
 */
export function setHostHeaders(response: unknown, headers: HeaderFields): void {
  const raw = rawResponse(response);
  if (raw === undefined || raw.headersSent) return;
  // Fastify sends the headers that it knows, in place of those set on Node's response.
  const set =
    raw === response
      ? (name: string, value: string) => raw.setHeader(name, value)
      : (name: string, value: string) => (response as FastifyLike).header(name, value);
  for (const [name, value] of Object.entries(headers)) if (!isOfBody(name)) set(name, value);
}

function rawOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const { raw } = value as { readonly raw?: unknown };
  return typeof raw === "object" && raw !== null ? raw : undefined;
}
