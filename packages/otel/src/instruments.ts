import {
  type Counter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { METRIC, OTHER, SCOPE } from "./names.js";
import { checkedOptions, type TelemetryOptions } from "./options.js";

/** The metrics. */
export interface Meters {
  readonly verifications: Counter;
  readonly shadowLimited: Counter;
  readonly verificationDuration: Histogram;
  readonly operationDuration: Histogram;
  readonly reservations: Counter;
  readonly storeDuration: Histogram;
  readonly storeRetries: Counter;
}

/** What records spans and metrics. */
export interface Instruments {
  readonly tracer: Tracer;
  /** The instruments of the current provider. */
  readonly meters: () => Meters;
  /** The label of an API in metrics: its id, or `other` beyond the maximum number of APIs. */
  readonly apiLabel: (apiId: string) => string;
  /** Whether spans contain ids of keys. */
  readonly keyIds: boolean;
}

/**
 * Histogram boundaries in seconds, from a verification in memory to a store in trouble. The SDK's default boundaries start at 5 ms, and
 * would show no difference between verifications.
 */
const BOUNDARIES = [
  0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01,
  0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/**
 * Creates the instruments with the providers of the options, or the global ones.
 *
 * @throws TypeError naming the wrong option.
 */
export function createInstruments(options: TelemetryOptions): Instruments {
  const { tracerProvider, meterProvider, maxApis, keyIds } = checkedOptions(options);
  return {
    // The global tracer forwards to a provider that is set later.
    tracer: (tracerProvider ?? trace).getTracer(SCOPE),
    meters: metersOf(meterProvider),
    apiLabel: createBoundedNames(maxApis),
    keyIds,
  };
}

/**
 * The metrics of a provider. The global provider is looked up at each measurement, and if it has changed, the metrics are created again:
 * unlike a tracer, a meter that was created before an SDK starts never records anything.
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

/**
 * Limits the values of a label: the first `max` names are returned unchanged, all others as `other`. The result for a name never
 * changes.
 *
 * @param max - A whole number >= 0.
 */
function createBoundedNames(max: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= max) return OTHER;
    known.add(name);
    return name;
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
      "How long operations took, by name; error.type if one threw.",
    ),
    reservations: meter.createCounter(METRIC.reservations, {
      description: "Reservations that ended, by whether they were settled or expired.",
      unit: "{reservation}",
    }),
    storeDuration: durations(
      meter,
      METRIC.storeDuration,
      "How long calls of the store took, by method; error.type if one failed.",
    ),
    storeRetries: meter.createCounter(METRIC.storeRetries, {
      description: "Calls of the store that met a concurrent change and are retried.",
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
