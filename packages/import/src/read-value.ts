import { isTooDeep, TOO_DEEP } from "./bounds.js";

/** How the text of a column is read. */
export type ValueKind =
  | "text"
  | "secret"
  | "whole"
  | "instant"
  | "flag"
  | "names"
  | "word"
  | "json";

/** Units of times given as numbers. */
export type InstantUnit = "ms" | "s";

/** The value, or why it could not be read. */
export type ReadValue = { readonly value: unknown } | { readonly message: string };

/** As ms this is before 1973, as seconds after the year 5000: a smaller number given as ms must be seconds. */
export const EARLIEST_MS = 100_000_000_000;

/** A date, or a date with a time and an optional zone (default UTC). PostgreSQL writes a space and `+00`. */
const ISO_INSTANT =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:(Z|UTC)|([+-]\d\d)(?::?(\d\d))?)?)?$/i;

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["t", true],
  ["yes", true],
  ["1", true],
  ["false", false],
  ["f", false],
  ["no", false],
  ["0", false],
]);

/**
 * Reads a value of a file or a database for a field of that kind. An invalid value is passed on unchanged if `createKeys` reports
 * what is wrong with it.
 */
export function readValue(value: unknown, kind: ValueKind, unit: InstantUnit = "ms"): ReadValue {
  switch (kind) {
    case "text":
      // In many databases, ids are numbers.
      return { value: typeof value === "number" ? String(value) : value };
    case "secret":
      // A number may have lost digits.
      return { value };
    case "whole":
      return { value: typeof value === "string" ? wholeOf(value) : value };
    case "instant":
      return readInstant(value, unit);
    case "flag":
      return { value: flagOf(value) };
    case "names":
      return readNames(value);
    case "word":
      return readWord(value);
    case "json":
      return typeof value === "string" ? readJson(value) : { value };
    default:
      return kind satisfies never;
  }
}

/** Unix epoch ms of a `Date`, of a number, or of an ISO 8601 text. */
export function readInstant(value: unknown, unit: InstantUnit = "ms"): ReadValue {
  if (value instanceof Date) return { value: value.getTime() };
  if (typeof value === "string") {
    const instant = instantOf(value.trim());
    if (instant !== null) return { value: instant };
  }
  const given = typeof value === "string" ? wholeOf(value) : value;
  if (typeof given !== "number") return { value: given };
  const instant = unit === "s" ? given * 1_000 : given;
  return instant < EARLIEST_MS
    ? { message: 'is before 1973: if it is in seconds, set "unit": "s"' }
    : { value: instant };
}

/** Any other value is returned unchanged. It is not converted to text, because an object from a file may define its own conversion. */
function flagOf(value: unknown): unknown {
  const isText = typeof value === "string" || typeof value === "number";
  return (isText ? FLAGS.get(String(value).toLowerCase()) : undefined) ?? value;
}

function wholeOf(text: string): unknown {
  return /^-?\d{1,16}$/.test(text.trim()) ? Number(text) : text;
}

function instantOf(text: string): number | null {
  const parts = ISO_INSTANT.exec(text);
  if (parts === null) return null;
  const [, date, time = "00:00", , hours = "+00", minutes = "00"] = parts;
  const instant = Date.parse(`${date}T${time}${hours}:${minutes}`);
  // Date.parse reads 30 February as 2 March.
  const day = new Date(`${date}T00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date as string);
  return Number.isNaN(instant) || !isDay ? null : Math.trunc(instant);
}

/** A list as JSON, or names separated by spaces, commas, semicolons or bars. */
function readNames(value: unknown): ReadValue {
  if (typeof value !== "string") return { value };
  if (value.trimStart().startsWith("[")) return readJson(value);
  return { value: value.split(/[\s,;|]+/).filter((name) => name !== "") };
}

/** A word, or an object in JSON instead. */
function readWord(value: unknown): ReadValue {
  return typeof value === "string" && value.trimStart().startsWith("{")
    ? readJson(value)
    : { value };
}

function readJson(text: string): ReadValue {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? { message: TOO_DEEP } : { value };
  } catch {
    return { message: "must be JSON" };
  }
}
