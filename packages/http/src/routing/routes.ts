import { LatchkeyError } from "@latchkey/core";
import type { Method } from "../operations/operation.js";
import type { HttpRequest } from "../request/http-request.js";
import { MethodNotAllowedError } from "./http-response.js";

/** What a path can lead to. */
interface Entry {
  readonly name: string;
  readonly method: Method;
}

/** Where a request leads. */
export interface Route<Target> {
  readonly target: Target;
  /** What follows the `?`. */
  readonly query: string;
}

/**
 * Makes a finder of routes: `<basePath>/v1/<name>`, compared character by character with the path as it stands in
 * the URL. Nothing is unescaped, folded or searched for in the middle of a path, so what a proxy in front lets
 * through by its path is what is served.
 *
 * @returns A function that throws LatchkeyError `NOT_FOUND` or `METHOD_NOT_ALLOWED`. HEAD is not GET here.
 */
export function createRoutes<Target extends Entry>(
  targets: readonly Target[],
  basePath: string,
): (asked: Pick<HttpRequest, "method" | "target">) => Route<Target> {
  const byPath = new Map(targets.map((target) => [`${basePath}/v1/${target.name}`, target]));
  return (asked) => {
    const { path, query } = split(asked.target);
    const target = byPath.get(path);
    if (target === undefined) throw new LatchkeyError("NOT_FOUND", "no such path");
    if (asked.method !== target.method) throw new MethodNotAllowedError(target.method);
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
