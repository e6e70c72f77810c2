import { checkKeyMap, type KeyMap } from "./key-map.js";
import { assertKnownOptions } from "./options.js";
import type { ImportRow, ImportSource } from "./row.js";
import { betterAuthSource } from "./sources/better-auth.js";
import { csvSource } from "./sources/csv.js";
import { databaseRows } from "./sources/database.js";
import { jsonLinesSource } from "./sources/jsonl.js";
import { rowsOfFile } from "./sources/text-file.js";
import { unkeySource } from "./sources/unkey.js";

/** Where keys can come from. */
export const SOURCES = ["better-auth", "unkey", "csv", "jsonl"] as const;

/** One of {@link SOURCES}. */
export type SourceKind = (typeof SOURCES)[number];

/**
 * Maximum number of unused columns to remember, and the maximum length of their names: each row of JSON may have different ones.
 */
const [MAX_COLUMNS, MAX_NAME] = [1_000, 256];

/** How a source is read. */
export interface SourceOptions {
  /** For csv and jsonl: how columns map to fields. */
  readonly map?: KeyMap | undefined;
  /** For csv: separator between columns. Default: a comma. */
  readonly delimiter?: string | undefined;
  /** For better-auth: the table of its keys. Default: `apikey`. */
  readonly table?: string | undefined;
  /** For better-auth: returns the current time, for due refills. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Opens a source of keys, which is read during the import.
 *
 * @param location - A file, or its text in pieces of whole characters; for better-auth, its database: `sqlite:./auth.db`,
 * `postgres://user@host/database`.
 * @throws TypeError for a wrong map or an unknown option.
 */
export function openSource(
  kind: SourceKind,
  location: string | AsyncIterable<string>,
  options: SourceOptions = {},
): ImportSource {
  assertKnownOptions("openSource", options, ["map", "delimiter", "table", "now"]);
  const { delimiter, table = "apikey", now = Date.now } = options;
  const map = checkKeyMap(options.map ?? {});
  const ignoredColumns = new Set<string>();
  const ignored = (column: string) => {
    if (ignoredColumns.size < MAX_COLUMNS) ignoredColumns.add(column.slice(0, MAX_NAME));
  };
  const rowsOf = (read: (pieces: AsyncIterable<string>) => AsyncIterable<ImportRow>) =>
    typeof location === "string" ? rowsOfFile(location, read) : read(location);
  switch (kind) {
    case "csv":
      return {
        rows: rowsOf((pieces) => csvSource(pieces, map, ignored, delimiter)),
        ignoredColumns,
      };
    case "jsonl":
      return { rows: rowsOf((pieces) => jsonLinesSource(pieces, map, ignored)), ignoredColumns };
    case "unkey":
      return { rows: rowsOf(unkeySource), ignoredColumns };
    case "better-auth":
      if (typeof location !== "string")
        throw new TypeError("better-auth keys are read from a database");
      return { rows: betterAuthSource(databaseRows(location, table), now()), ignoredColumns };
    default:
      throw new TypeError(
        `keys come from ${SOURCES.join(", ")}, not from "${String(kind satisfies never)}"`,
      );
  }
}
