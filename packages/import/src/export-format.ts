import { KEY_LABELS } from "@latchkey/core";
import { stringify } from "csv-stringify/sync";
import type { ExportedKey } from "./exported-key.js";
import { assertKnownOptions } from "./options.js";

/** Forms of an export. */
export const EXPORT_FORMATS = ["jsonl", "csv"] as const;

/** One of {@link EXPORT_FORMATS}. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The columns of an export as CSV. Lists and objects are JSON in their cell. */
const COLUMNS = [
  "hash.value",
  "hash.variant",
  "hash.pepper",
  "id",
  "apiId",
  "api",
  "start",
  ...Object.keys(KEY_LABELS),
  "externalId",
  "identity",
  "meta",
  "roles",
  "permissions",
  "createdAt",
  "updatedAt",
  "lastUsedAt",
  "expires",
  "enabled",
  "remaining",
  "refill.interval",
  "refill.amount",
  "refill.carryOver",
  "refill.refillDay",
  "refill.lastRefillAt",
  "ratelimits",
  "usesFrom",
  "rotatedFrom",
  "rotatedTo",
  "tags",
  "ipWhitelist",
  "startsAt",
  "expiresWhenUnused",
];

/** Text before the first key: the names of the columns, or nothing. */
export function exportHeader(format: ExportFormat): string {
  return format === "csv" ? stringify([COLUMNS]) : "";
}

/** Options of {@link exportText}. */
export interface ExportTextOptions {
  /**
   * For csv: whether cells that a spreadsheet would run as a formula get a leading `'`, so that a name such as `=HYPERLINK(…)` does
   * nothing. An import does not remove it. Hashes stay as they are. Default: false.
   */
  readonly escapeFormulas?: boolean | undefined;
}

/**
 * Keys as text: JSON lines, or rows of CSV (RFC 4180, with Unix line endings).
 *
 * @throws TypeError naming an unknown option.
 */
export function exportText(
  format: ExportFormat,
  keys: readonly ExportedKey[],
  options: ExportTextOptions = {},
): string {
  assertKnownOptions("exportText", options, ["escapeFormulas"]);
  const { escapeFormulas = false } = options;
  if (format === "jsonl") return keys.map((key) => `${JSON.stringify(key)}\n`).join("");
  const shown = (cell: string, column: string) =>
    escapeFormulas && column !== "hash.value" && FORMULA.test(cell) ? `'${cell}` : cell;
  return stringify(keys.map((key) => COLUMNS.map((column) => shown(cellOf(key, column), column))));
}

/** @see https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;

function cellOf(key: ExportedKey, column: string): string {
  let value: unknown = key;
  for (const part of column.split("."))
    value = (value as Record<string, unknown> | undefined)?.[part];
  if (value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
