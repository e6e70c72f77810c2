import { createIdFactory } from "@latchkey/core";

const POOL_BYTES = 4_096;

/** Random bytes from a pool: a request id needs few, and reading the random source each time would cost more than all the rest. */
function pooledRandom(): (size: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (size) => {
    if (size > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(size));
    if (used + size > POOL_BYTES) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };
}

/**
 * Creates a source of request ids: `req_` and the time-ordered format of all ids. An `X-Request-Id` of the client is never
 * used, so that an id names one request and cannot be forged into a log.
 */
export function createRequestIds(): () => string {
  const newId = createIdFactory(Date.now, pooledRandom());
  return () => newId("req");
}
