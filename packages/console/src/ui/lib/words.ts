const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const minuteFormat = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
});
const figures = new Intl.NumberFormat(undefined);

/** A number in the format of the reader's language. */
export const figure = (value: number): string => figures.format(value);

/** `1 key`, `2 keys`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${figure(count)} ${count === 1 ? one : many}`;

/** An instant relative to now: `3 minutes ago`, `in 2 days`; more than a month away, the day. */
export function fromNow(at: number, now: number): string {
  const away = at - now;
  if (Math.abs(away) >= 30 * 86_400_000) return dayFormat.format(at);
  for (const [unit, ms] of UNITS)
    if (Math.abs(away) >= ms) return relative.format(Math.trunc(away / ms), unit);
  return "now";
}

/** An instant in the reader's time zone, to the minute. */
export const atMinute = (at: number): string => minuteFormat.format(at);

/** The exact instant in UTC. */
export function exactly(at: number): string {
  try {
    return new Date(at).toISOString();
  } catch {
    return `${at} ms`;
  }
}

/** A span in its largest whole unit: `30 seconds`, `1 day`. */
export function span(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => ms >= each && ms % each === 0) ?? ["ms", 1];
  const count = ms / length;
  return unit === "ms" ? `${figure(ms)} ms` : plural(count, unit);
}

/** What a limit is for: `per hour`, `per 5 minutes`. */
export const perSpan = (ms: number): string => `per ${span(ms).replace(/^1 /, "")}`;

/** A remaining span: `4 min 12 s`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86_400)
    return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`;
}

/** A query of permissions as people write it: `a and (b or c)`. */
export function queryText(query: unknown, isInner = false): string {
  if (typeof query === "string") return query;
  if (typeof query !== "object" || query === null) return JSON.stringify(query);
  const [word, parts] = Object.entries(query)[0] ?? ["and", []];
  const text = (parts as readonly unknown[]).map((part) => queryText(part, true)).join(` ${word} `);
  return isInner && (parts as readonly unknown[]).length > 1 ? `(${text})` : text;
}

/** How often uses are restored. */
export function refillText(refill: {
  readonly interval: string | { readonly every: number };
  readonly amount: number;
  readonly refillDay?: number;
  readonly carryOver?: number;
}): string {
  const { interval, amount, refillDay, carryOver } = refill;
  const every = typeof interval === "string" ? interval : `every ${span(interval.every)}`;
  const day = refillDay === undefined ? "" : ` on day ${refillDay}`;
  const kept = carryOver === undefined ? "" : `, plus up to ${figure(carryOver)} carried over`;
  return `${figure(amount)} ${every}${day}${kept}`;
}

/** The last instant that a date field can hold in every time zone: a day before the end of its last year. */
const LAST_IN_FIELD = Date.UTC(9999, 11, 31);

/** An instant in the format of a local date and time field; undefined if the field cannot hold it. */
export function localInstant(at: number | undefined): string | undefined {
  if (at === undefined || !(Math.abs(at) <= LAST_IN_FIELD)) return undefined;
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Characters that change the direction of text, as escapes: a name with them could reorder what follows it, even if it is isolated. */
export const withoutTurns = (text: string): string =>
  text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`);
