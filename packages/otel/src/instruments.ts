import {
  type Counter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { createBoundedNames } from "./bounded-names.js";
import { METRIC, SCOPE } from "./names.js";
import { checkedOptions, type TelemetryOptions } from "./options.js";

/** What metrics are made with. */
export interface Meters {
  readonly verifications: Counter;
  readonly shadowLimited: Counter;
  readonly verificationDuration: Histogram;
  readonly operationDuration: Histogram;
  readonly reservations: Counter;
  readonly storeDuration: Histogram;
  readonly storeRetries: Counter;
}

/** What spans and metrics are made with. */
export interface Instruments {
  readonly tracer: Tracer;
  /** Those of the provider of now. */
  readonly meters: () => Meters;
  /** What an API is called in metrics. */
  readonly apiLabel: (apiId: string) => string;
  /** Whether spans name keys. */
  readonly keyIds: boolean;
}

/**
 * Seconds, from what a verification takes on memory to what a store takes that is in trouble. The usual boundaries begin at 5 ms,
 * and would see no difference between any two verifications.
 */
const BOUNDARIES = [
  0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01,
  0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/**
 * Makes the instruments on the providers that the options name, or on the global ones.
 *
 * @throws TypeError naming the wrong option.
 */
export function createInstruments(options: TelemetryOptions): Instruments {
  const { tracerProvider, meterProvider, maxApis, keyIds } = checkedOptions(options);
  return {
    // The global tracer passes on to the provider that is set later.
    tracer: (tracerProvider ?? trace).getTracer(SCOPE),
    meters: metersOf(meterProvider),
    apiLabel: createBoundedNames(maxApis),
    keyIds,
  };
}

/**
 * The meters of a provider. Those of the global one are asked for with each measurement, and made anew when it is another: a meter that
 * was made before an SDK is started records nothing for ever, unlike a tracer.
 */
function metersOf(given: MeterProvider | undefined): () => Meters {
  let provider = given ?? metrics.getMeterProvider();
  let meters = createMeters(provider);
  if (given !== undefined) return () => meters;
  return () => {
    const current = metrics.getMeterProvider();
    if (current !== provider) {
      provider = current;
      meters = createMeters(current);
    }
    return meters;
  };
}

function createMeters(provider: MeterProvider): Meters {
  const meter = provider.getMeter(SCOPE);
  return {
    verifications: meter.createCounter(METRIC.verifications, {
      description: "Verdicts given, by code and API.",
      unit: "{verification}",
    }),
    shadowLimited: meter.createCounter(METRIC.shadowLimited, {
      description: "Verdicts given while a shadow limit had no room, by code and API.",
      unit: "{verification}",
    }),
    verificationDuration: durations(
      meter,
      METRIC.verificationDuration,
      "How long verdicts took, by code, by whether the key was in the cache and by whether the store was not asked.",
    ),
    operationDuration: durations(
      meter,
      METRIC.operationDuration,
      "How long operations took, by name; error.type where one threw.",
    ),
    reservations: meter.createCounter(METRIC.reservations, {
      description: "Reservations that ended, by whether they were settled or expired.",
      unit: "{reservation}",
    }),
    storeDuration: durations(
      meter,
      METRIC.storeDuration,
      "How long calls of the store took, by method; error.type where one failed.",
    ),
    storeRetries: meter.createCounter(METRIC.storeRetries, {
      description: "Calls of the store that found their premises changed, and are tried again.",
      unit: "{retry}",
    }),
  };
}

function durations(meter: Meter, name: string, description: string): Histogram {
  return meter.createHistogram(name, {
    description,
    unit: "s",
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
}
