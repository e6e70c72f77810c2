import type { Latchkey, LatchkeyEvent, LatchkeyOptions } from "@latchkey/core";
import { createInstruments } from "./instruments.js";
import { createMeasuring } from "./operations.js";
import type { TelemetryOptions } from "./options.js";
import { recordEvent } from "./record-event.js";
import { measuredStore } from "./store.js";

/**
 * Wraps `createLatchkey` so that every operation and every call of the store is a span, and verdicts, latencies, failures, cache hits and
 * retries are metrics. Nothing else changes, and your own `onEvent` is called as before.
 *
 * @param createLatchkey - From `latchkey` or `@latchkey/core`; its type stays.
 * @throws TypeError naming the wrong option.
 * @example
 * const latchkey = instrument(createLatchkey)({ store });
 */
export function instrument<Create extends (options: never) => object>(
  createLatchkey: Create,
  options: TelemetryOptions = {},
): Create {
  if (typeof createLatchkey !== "function")
    throw new TypeError(
      '"createLatchkey" must be the function: instrument(createLatchkey)({ store })',
    );
  const instruments = createInstruments(options);
  const measuring = createMeasuring(instruments);
  const create = createLatchkey as unknown as (options: LatchkeyOptions) => Latchkey;
  const createObserved = (given: LatchkeyOptions): Latchkey => {
    // createLatchkey reports wrong options.
    if (typeof given?.store?.charge !== "function") return create(given);
    const { onEvent } = given;
    const record = (event: LatchkeyEvent): unknown => {
      try {
        return onEvent?.(event);
      } finally {
        // If it throws, `onError` gets that. Your own listener has the event in any case.
        recordEvent(instruments, event);
      }
    };
    const isListener = onEvent === undefined || typeof onEvent === "function";
    const latchkey = create({
      ...given,
      store: measuredStore(given.store, instruments),
      onEvent: isListener ? record : onEvent,
    });
    return measuring(latchkey);
  };
  return createObserved as unknown as Create;
}
