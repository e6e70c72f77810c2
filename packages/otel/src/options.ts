import type { MeterProvider, TracerProvider } from "@opentelemetry/api";

/** Options of `instrument` and `instrumentStore`. */
export interface TelemetryOptions {
  /** Provider for spans. Default: the global one. */
  readonly tracerProvider?: TracerProvider;
  /** Provider for metrics. Default: the global one. */
  readonly meterProvider?: MeterProvider;
  /**
   * How many APIs have their own label in metrics: the first ones seen; all others are `other`. A whole number from 0 to 10,000.
   * Default: 100.
   */
  readonly maxApis?: number;
  /** Whether spans have the id of the verified key. Metrics never do. Default: false. */
  readonly keyIds?: boolean;
}

const DEFAULT_APIS = 100;
const MOST_APIS = 10_000;

/** Any other option is refused, so that a misspelt one is not ignored. */
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  "tracerProvider",
  "meterProvider",
  "maxApis",
  "keyIds",
] satisfies (keyof TelemetryOptions)[]);

/**
 * Reads options.
 *
 * @throws TypeError naming the wrong option and its bound.
 */
export function checkedOptions(
  options: TelemetryOptions,
): TelemetryOptions & Required<Pick<TelemetryOptions, "maxApis" | "keyIds">> {
  const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.has(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of @latchkey/otel`);
  const { maxApis = DEFAULT_APIS, keyIds = false } = options;
  if (!Number.isInteger(maxApis) || maxApis < 0 || maxApis > MOST_APIS)
    throw new TypeError(`"maxApis" must be a whole number from 0 to ${MOST_APIS}`);
  if (typeof keyIds !== "boolean") throw new TypeError('"keyIds" must be true or false');
  return { ...options, maxApis, keyIds };
}
