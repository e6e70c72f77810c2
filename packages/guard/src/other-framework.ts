/**
 * The error for a guard that is called by another framework than its own. It is thrown, or passed on, and never sent: another framework
 * would pass over what the guard returns, and go on to the route.
 *
 * @param framework - The one that the guard is for.
 */
export function otherFramework(framework: string): TypeError {
  return new TypeError(
    `this guard is for ${framework}: is it from the entry for your framework, such as "@latchkey/guard/express"?`,
  );
}

/** Whether this has headers of the web standard, as a `Request` and a `Response` have. */
export function hasWebHeaders(message: unknown): boolean {
  const headers = (message as { readonly headers?: Partial<Headers> } | null | undefined)?.headers;
  return typeof headers?.get === "function";
}

/** Whether this is a response of Node.js. */
export function isNodeResponse(response: unknown): boolean {
  return typeof (response as { readonly setHeader?: unknown } | null)?.setHeader === "function";
}
