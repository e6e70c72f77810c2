import { isTooDeep, TOO_DEEP } from "./bounds.js";

/** How the text of a column is read. */
export type ValueKind = "text" | "whole" | "instant" | "flag" | "names" | "word" | "json";

/** Units of times given as numbers. */
export type InstantUnit = "ms" | "s";

/** What was read, or why it could not be. */
export type ReadValue = { readonly value: unknown } | { readonly message: string };

/** Before 1973 in ms, and after the year 5000 in seconds: such a number of ms is one of seconds. */
export const EARLIEST_MS = 100_000_000_000;

/** A date, or a date with a time and a zone or none, which then is UTC: PostgreSQL writes a space and `+00`. */
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
 * Reads a value of a file or a database as a field of that kind wants it. What is no such value is handed on as it is where
 * `createKeys` says what is wrong with it.
 */
export function readValue(value: unknown, kind: ValueKind, unit: InstantUnit = "ms"): ReadValue {
  switch (kind) {
    case "text":
      // Ids are numbers in many a database.
      return { value: typeof value === "number" ? String(value) : value };
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

/** Unix epoch ms of a `Date`, of a number, or of a text in the form of ISO 8601. */
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
    ? { message: 'lies before 1973: if it is in seconds, say so with "unit": "s"' }
    : { value: instant };
}

/** The value itself where it is neither: an object of a file would be asked how it is written. */
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
  // Date.parse makes 2 March of 30 February.
  const day = new Date(`${date}T00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date as string);
  return Number.isNaN(instant) || !isDay ? null : Math.trunc(instant);
}

/** A list as JSON, or names between spaces, commas, semicolons or bars. */
function readNames(value: unknown): ReadValue {
  if (typeof value !== "string") return { value };
  if (value.trimStart().startsWith("[")) return readJson(value);
  return { value: value.split(/[\s,;|]+/).filter((name) => name !== "") };
}

/** A word, or an object as JSON in its place. */
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
