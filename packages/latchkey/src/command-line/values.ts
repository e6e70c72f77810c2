import { type EpochMs, OPERATIONS, WORKSPACE_ID_PATTERN } from "@latchkey/core";
import { Option } from "commander";
import { UsageError } from "./failures.js";

/**
 * Reads the value of an option.
 *
 * @throws UsageError naming the option and its bound, never the value.
 */
export type ReadValue<Value> = (text: string) => Value;

/** A whole number from `min` to `max`, written in decimal digits. */
export function wholeNumber(
  argument: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): ReadValue<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `>= ${min}` : `from ${min} to ${max}`;
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new UsageError(`${argument} must be a whole number ${range}`);
  };
}

/** Texts separated by commas, without surrounding space. */
export function list(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}

/** An option that takes one of a few words, for help and completion. */
export function choiceOption(flags: string, text: string, words: readonly string[]): Option {
  const [long = ""] = /^--[a-z-]+/.exec(flags) ?? [];
  return new Option(flags, text).choices(words).argParser(oneOf(long, words));
}

/** One of a few words. */
export function oneOf<Word extends string>(
  argument: string,
  words: readonly Word[],
): ReadValue<Word> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    throw new UsageError(`${argument} must be ${words.join(" or ")}`);
  };
}

/** The id of a workspace, given as `argument`. */
export function workspaceIdOf(argument: string): ReadValue<string> {
  return (text) => {
    if (WORKSPACE_ID_PATTERN.test(text)) return text;
    throw new UsageError(`${argument} must be 1 to 64 characters of A-Z a-z 0-9 _ -`);
  };
}

/** The name of an API, given as `argument`. */
export function apiNameOf(argument: string): ReadValue<string> {
  return (name) => {
    const { error } = OPERATIONS.createApi.input.safeParse({ name });
    if (error === undefined) return name;
    throw new UsageError(`${argument} ${error.issues[0]?.message}`);
  };
}

const ISO_DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A span from when the command runs, in ms; negative for the past. */
export class After {
  constructor(readonly ms: number) {}
}

/**
 * The fields that are spans from now on, as instants.
 *
 * @param now - Unix epoch ms.
 */
export function instantsOf(
  typed: Readonly<Record<string, unknown>>,
  now: EpochMs,
): Record<string, EpochMs> {
  return Object.fromEntries(
    Object.entries(typed).flatMap(([field, value]) =>
      value instanceof After ? [[field, now + value.ms] as const] : [],
    ),
  );
}

/** In ms, the longest first. */
const SPAN_UNITS: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
};

/** A span in ms, written as `30s`, `15m`, `1h`, `7d` or `250ms`; NaN for anything else. */
export function spanMs(text: string): number {
  const [, amount, unit = ""] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(amount) * (SPAN_UNITS[unit] ?? Number.NaN);
}

/** A span, in the largest unit that gives a whole number. */
export function spanText(ms: number): string {
  const [unit, length] = Object.entries(SPAN_UNITS).find(([, each]) => ms % each === 0) ?? [
    "ms",
    1,
  ];
  return `${ms / length}${unit}`;
}

/** An ISO date as {@link isoDate} reads it, or a span from now on, such as `30d`. */
export function isoDateOrSpan(argument: string): ReadValue<number | After> {
  return dateOrSpan(argument, 1, "a span from now on");
}

/** An ISO date as {@link isoDate} reads it, or how long ago, such as `30d`. */
export function isoDateOrAge(argument: string): ReadValue<number | After> {
  return dateOrSpan(argument, -1, "how long ago");
}

function dateOrSpan(argument: string, sign: 1 | -1, what: string): ReadValue<number | After> {
  const ofDate = isoDate(argument, `, or ${what}, such as 30d`);
  return (text) => {
    const ms = spanMs(text);
    return Number.isSafeInteger(ms) && ms > 0 ? new After(sign * ms) : ofDate(text);
  };
}

/**
 * Unix epoch ms of an ISO date, or of an ISO date and time with its zone. `also`: what else is accepted, for the error message.
 */
export function isoDate(argument: string, also = ""): ReadValue<number> {
  return (text) => {
    const [, date = ""] = ISO_DATE.exec(text) ?? [];
    const instant = Date.parse(text);
    // Date.parse reads 30 February as 2 March. A date that does not survive the round trip does not exist.
    const midnight = Date.parse(`${date}T00:00:00Z`);
    const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
    if (date !== "" && !Number.isNaN(instant) && exists) return instant;
    throw new UsageError(
      `${argument} must be an ISO date, such as 2031-05-17 or 2031-05-17T09:30:00Z${also}`,
    );
  };
}
