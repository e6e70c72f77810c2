/**
 * What a charge that was answered survives. Both survive the end of this process, by whatever means.
 *
 * `normal`: a power cut or a crash of the operating system may give back the last uses, and never damages the file. `full`: it
 * gives back nothing. Every other write is always made as with `full`.
 */
export type Durability = "normal" | "full";

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** How charges are committed. Default: `normal`. */
  readonly durability?: Durability | undefined;
  /**
   * How long a call waits for the write lock while other connections hold it, in ms: a whole number from 0 to 600,000, 0 for a
   * single attempt. Default: 2,000.
   */
  readonly deadlineMs?: number | undefined;
}

/** Options with their defaults. */
export type Settings = ReturnType<typeof parseOptions>;

const MAX_DEADLINE_MS = 600_000;

/** @throws TypeError naming the option that is wrong. */
export function parseOptions(options: SqliteStoreOptions) {
  if (typeof options !== "object" || options === null)
    throw new TypeError('"options" must be an object');
  const unknown = Object.keys(options).find((name) => !["durability", "deadlineMs"].includes(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of sqliteStore`);
  const { durability = "normal", deadlineMs = 2_000 } = options;
  if (durability !== "normal" && durability !== "full")
    throw new TypeError('"durability" must be "normal" or "full"');
  if (!Number.isSafeInteger(deadlineMs) || deadlineMs < 0 || deadlineMs > MAX_DEADLINE_MS)
    throw new TypeError(`"deadlineMs" must be a whole number from 0 to ${MAX_DEADLINE_MS}`);
  return { durability, deadlineMs };
}
