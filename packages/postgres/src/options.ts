import {
  assertOption,
  assertSwitch,
  assertWholeOption,
  readOptions,
  type SettingsOf,
} from "@latchkey/core";

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** The schema for the tables: 1 to 48 lower case letters, digits and `_`. Default: `latchkey`. */
  readonly schema?: string | undefined;
  /**
   * Whether the first call creates or updates the tables. If false, call `migrate` with a user that has the right to; until then, calls
   * fail with `PRECONDITION_FAILED`. Default: true.
   */
  readonly migrate?: boolean | undefined;
  /**
   * How long a verification may take, in ms, including everything that it waits for: a whole number from 1 to 600,000. Default: 2,000.
   * After that, it fails with `STORE_UNAVAILABLE`, with the outcome `unknown` if it was sent.
   */
  readonly chargeTimeoutMs?: number | undefined;
  /** How long any other call may take, in ms, and reading a key that this process has not verified before. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Size of the pool that a URL opens: a whole number from 1 to 1,000. Default: 10. */
  readonly maxConnections?: number | undefined;
  /** TLS of the pool that a URL opens, as node-postgres takes it: `true`, or `{ ca, … }`. Default: as the URL says. */
  readonly ssl?: boolean | object | undefined;
  /**
   * Whether statements are prepared once on each connection. Behind a PgBouncer before 1.21, or with its `max_prepared_statements`
   * at 0, set it to false. Default: true.
   */
  readonly preparedStatements?: boolean | undefined;
}

/** Options with their defaults. */
export type Settings = SettingsOf<PostgresStoreOptions>;

const DEFAULTS: Settings = {
  schema: "latchkey",
  migrate: true,
  chargeTimeoutMs: 2_000,
  timeoutMs: 10_000,
  maxConnections: 10,
  ssl: false,
  preparedStatements: true,
};
const MOST = { chargeTimeoutMs: 600_000, timeoutMs: 600_000, maxConnections: 1_000 } as const;

/** @throws TypeError naming the wrong option. */
export function parseOptions(options: PostgresStoreOptions): Settings {
  const settings = readOptions("postgresStore", DEFAULTS, options);
  const { schema, ssl } = settings;
  assertOption(
    /^[a-z_][a-z0-9_]{0,47}$/.test(String(schema)) && !/^pg_/.test(schema),
    '"schema" must be 1 to 48 lower case letters, digits and _, and not begin with a digit or pg_',
  );
  for (const name of ["migrate", "preparedStatements"] as const) assertSwitch(name, settings[name]);
  const isTls = typeof ssl === "boolean" || typeof ssl === "object";
  assertOption(isTls, '"ssl" must be true, false or an object');
  for (const name of ["chargeTimeoutMs", "timeoutMs", "maxConnections"] as const)
    assertWholeOption(name, settings[name], 1, MOST[name]);
  return settings;
}
