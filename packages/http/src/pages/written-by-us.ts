const known = new WeakSet<Request>();

/** Marks a request whose response this package itself writes to the connection, byte for byte. */
export function noteWrittenByUs(request: Request): Request {
  known.add(request);
  return request;
}

/**
 * Whether the response to a request may be compressed. Not if it is returned to a framework: Next.js would compress it a second time, and
 * browsers would show compressed bytes.
 */
export const isWrittenByUs = (request: Request): boolean => known.has(request);
