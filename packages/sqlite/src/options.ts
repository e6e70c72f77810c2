import { assertOption, assertWholeOption, readOptions, type SettingsOf } from "@latchkey/core";

/**
 * How durable an answered charge is. With both values, it survives if this process is killed.
 *
 * `normal`: a power cut or a crash of the operating system may undo the last charges, but never damages the file. `full`: no answered
 * charge is undone. Changes of configuration are always as durable as with `full`.
 */
export type Durability = "normal" | "full";

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** How charges are committed. Default: `normal`. */
  readonly durability?: Durability | undefined;
  /**
   * How long a write waits for the write lock if other connections hold it, in ms: a whole number from 0 to 600,000; 0 for a single
   * attempt. Default: 2,000.
   */
  readonly deadlineMs?: number | undefined;
}

/** Options with their defaults. */
export type Settings = SettingsOf<SqliteStoreOptions>;

const DEFAULTS: Settings = { durability: "normal", deadlineMs: 2_000 };
const MAX_DEADLINE_MS = 600_000;

/** @throws TypeError naming the wrong option. */
export function parseOptions(options: SqliteStoreOptions): Settings {
  const settings = readOptions("sqliteStore", DEFAULTS, options);
  const { durability, deadlineMs } = settings;
  const isKnown = durability === "normal" || durability === "full";
  assertOption(isKnown, '"durability" must be "normal" or "full"');
  assertWholeOption("deadlineMs", deadlineMs, 0, MAX_DEADLINE_MS);
  return settings;
}
