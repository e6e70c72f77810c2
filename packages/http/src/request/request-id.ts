import { createIdFactory } from "@latchkey/core";

const POOL_BYTES = 4_096;

/** Random bytes from a pool: one request id needs a few, and asking the system each time costs more than the rest. */
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
 * Makes a source of request ids: `req_` and the same time-ordered form as every other id. What a client sends as
 * its own `X-Request-Id` is never taken over, so that an id names one request and cannot be forged into a log.
 */
export function createRequestIds(): () => string {
  const newId = createIdFactory(Date.now, pooledRandom());
  return () => newId("req");
}
