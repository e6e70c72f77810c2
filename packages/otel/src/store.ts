import { interceptStore, type KeyStore } from "@latchkey/core";
import { createInstruments, type Instruments } from "./instruments.js";
import { type Measurement, measure } from "./measure.js";
import { ATTRIBUTE } from "./names.js";
import type { TelemetryOptions } from "./options.js";

/**
 * Wraps a store so that its calls are spans and metrics. `instrument` already does this: use it for a store without a latchkey, or if only
 * the store is of interest.
 *
 * @throws TypeError naming the wrong option.
 */
export function instrumentStore(store: KeyStore, options: TelemetryOptions = {}): KeyStore {
  return measuredStore(store, createInstruments(options));
}

/** {@link instrumentStore} with existing instruments. */
export function measuredStore(store: KeyStore, instruments: Instruments): KeyStore {
  const { tracer, meters } = instruments;
  return interceptStore(store, ({ method, workspaceId }, run) => {
    // Calls without a workspace are not part of any operation.
    if (workspaceId === null) return run();
    const labels = { [ATTRIBUTE.storeMethod]: method };
    const measurement: Measurement = {
      tracer,
      duration: () => meters().storeDuration,
      name: `latchkey.store.${method}`,
      labels,
      attributes: { ...labels, [ATTRIBUTE.workspaceId]: workspaceId },
      onAnswer: (answer) => {
        const kind = kindOf(answer);
        if (kind === "stale") meters().storeRetries.add(1, labels);
        return kind === null ? {} : { [ATTRIBUTE.storeResult]: kind };
      },
    };
    return measure(measurement, run);
  });
}

/** The kind of the result of a commit or a charge, one of a few words; null for calls that return records or sums. */
function kindOf(answer: unknown): string | null {
  if (typeof answer !== "object" || answer === null || !("kind" in answer)) return null;
  return String(answer.kind);
}
