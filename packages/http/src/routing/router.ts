import { LatchkeyError } from "@latchkey/core";
import type { Method } from "../operations/operation.js";
import type { HttpRequest } from "../request/http-request.js";
import { MethodNotAllowedError } from "./http-response.js";

/** Anything that has a path of its own. */
interface Entry {
  /** What follows `/v1/` in the path. */
  readonly name: string;
  readonly method: Method;
}

/** The entry that a request is for. */
export interface Route<Target> {
  readonly target: Target;
  /** What follows the `?`. */
  readonly query: string;
}

/**
 * Creates a router: `<basePath>/v1/<name>`, compared character by character with the path as it stands in the URL. Nothing is
 * unescaped, folded or searched for inside a path, so a proxy in front that filters by path filters exactly what is served.
 *
 * @returns A function that throws LatchkeyError `NOT_FOUND` or `METHOD_NOT_ALLOWED`. HEAD is not GET here.
 */
export function createRouter<Target extends Entry>(
  targets: readonly Target[],
  basePath: string,
): (request: Pick<HttpRequest, "method" | "target">) => Route<Target> {
  const byPath = new Map(targets.map((target) => [`${basePath}/v1/${target.name}`, target]));
  return (request) => {
    const { path, query } = split(request.target);
    const target = byPath.get(path);
    if (target === undefined) throw new LatchkeyError("NOT_FOUND", "no such path");
    if (request.method !== target.method) throw new MethodNotAllowedError(target.method);
    return { target, query };
  };
}

/** By hand: `new URL` costs more than everything else between the socket and the operation. */
function split(target: string): { readonly path: string; readonly query: string } {
  // In absolute form the path begins after the host, which plays no part here (RFC 9112 section 3.2.2).
  const pathAt = target.startsWith("/") ? 0 : target.indexOf("/", target.indexOf("//") + 2);
  const hashAt = target.indexOf("#", pathAt);
  const end = hashAt === -1 ? target.length : hashAt;
  const queryAt = target.indexOf("?", pathAt);
  if (queryAt === -1 || queryAt > end) return { path: target.slice(pathAt, end), query: "" };
  return { path: target.slice(pathAt, queryAt), query: target.slice(queryAt + 1, end) };
}
