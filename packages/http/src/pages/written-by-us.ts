const known = new WeakSet<Request>();

/** Notes that the response to a request is written to its connection here, byte for byte. */
export function noteWrittenByUs(request: Request): Request {
  known.add(request);
  return request;
}

/**
 * Whether a response may be compressed. One that is handed to a framework may not: Next.js compresses it a second time, and browsers show
 * what is inside.
 */
export const isWrittenByUs = (request: Request): boolean => known.has(request);
