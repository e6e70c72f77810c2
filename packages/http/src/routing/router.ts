import { LatchkeyError } from "@latchkey/core";
import type { Method } from "../operations/operation.js";
import { MethodNotAllowedError } from "./http-response.js";

/** Anything with its own path. */
interface Entry {
  /** Last segment or segments of the path. */
  readonly name: string;
  readonly method: Method;
}

/**
 * Creates a router: `<prefix><name>`, compared character by character with the path in the URL. Nothing is unescaped, folded or searched
 * for inside a path, so a proxy in front that filters by path filters exactly what is served.
 *
 * @param prefix - Such as `/keys/v1/`.
 * @param unknownPath - Message for any other path.
 * @returns A function that throws LatchkeyError `NOT_FOUND` or `METHOD_NOT_ALLOWED`. HEAD is not GET here.
 */
export function createRouter<Target extends Entry>(
  targets: readonly Target[],
  prefix: string,
  unknownPath: string,
): (path: string, method: string) => Target {
  const byPath = new Map(targets.map((target) => [`${prefix}${target.name}`, target]));
  return (path, method) => {
    const target = byPath.get(path);
    if (target === undefined) throw new LatchkeyError("NOT_FOUND", unknownPath);
    if (method !== target.method) throw new MethodNotAllowedError(target.method);
    return target;
  };
}

/**
 * Path and query of a request, unchanged from its URL; the query is the part after the `?`.
 *
 * Written by hand, because `new URL` costs more than everything else between the socket and the operation.
 */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  // In absolute form the path begins after the host, which is ignored here (RFC 9112 section 3.2.2).
  const pathAt = target.startsWith("/") ? 0 : target.indexOf("/", target.indexOf("//") + 2);
  const hashAt = target.indexOf("#", pathAt);
  const end = hashAt === -1 ? target.length : hashAt;
  const queryAt = target.indexOf("?", pathAt);
  if (queryAt === -1 || queryAt > end) return { path: target.slice(pathAt, end), query: "" };
  return { path: target.slice(pathAt, queryAt), query: target.slice(queryAt + 1, end) };
}
