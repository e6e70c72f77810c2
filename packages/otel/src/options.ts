import type { MeterProvider, TracerProvider } from "@opentelemetry/api";

/** Options of `instrument` and `instrumentStore`. */
export interface TelemetryOptions {
  /** Where spans go. The global provider unless given. */
  readonly tracerProvider?: TracerProvider;
  /** Where metrics go. The global provider unless given. */
  readonly meterProvider?: MeterProvider;
  /** Most APIs that metrics tell apart, first come first served; the rest is `other`. A whole number from 0 to 10,000, 100 unless given. */
  readonly maxApis?: number;
  /** Whether spans name the key that was verified. Metrics never do. False unless given. */
  readonly keyIds?: boolean;
}

const DEFAULT_APIS = 100;
const MOST_APIS = 10_000;

/** A misspelt option must not become the usual one. */
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  "tracerProvider",
  "meterProvider",
  "maxApis",
  "keyIds",
] satisfies (keyof TelemetryOptions)[]);

/**
 * Reads options.
 *
 * @throws TypeError naming the option that is wrong and its bound.
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
