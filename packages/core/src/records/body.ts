import { corruptRecord } from "../errors.js";
import { deepFrozen, type JsonValue } from "../lib/json.js";
import { NO_ITEMS } from "../lib/no-items.js";
import { isObject, isPolluted, withoutPrototype } from "../lib/own-fields.js";
import { isWhole } from "../lib/whole.js";
import { LIMIT_ALGORITHMS } from "../rules/limit-state.js";
import { fromWireFigures, isCountable, type RateLimit } from "../rules/rate-limit.js";
import { isRefillSpan, LAST_REFILL_DAY, REFILL_INTERVALS, type Refill } from "../rules/refill.js";
import type { EpochMs } from "../time.js";

/**
 * Reads the members of a stored body. Each method throws for a damaged member, so that a damaged record never decides anything.
 *
 * Members without a value are absent, because there are many records, and bytes count.
 */
export class BodyReader {
  readonly #members: Readonly<Record<string, JsonValue>>;

  /** `format`: the format that this code writes. A body in a later format is refused. */
  constructor(body: JsonValue | undefined, format: number) {
    if (!isObject(body)) throw damaged("body");
    const members = body as Readonly<Record<string, JsonValue>>;
    this.#members = isPolluted() ? withoutPrototype(members, 1) : members;
    const stored = this.wholeOr("format", 1);
    if (stored < 1 || stored > format) throw damaged("format");
  }

  text(name: string): string {
    const value = this.#members[name];
    return typeof value === "string" ? value : refuse(name);
  }

  /** The id of a record. Ids are looked up, and are part of list names. */
  id(name: string): string {
    const value = this.text(name);
    return /^[!-~]{1,128}$/.test(value) ? value : refuse(name);
  }

  textOrNull(name: string): string | null {
    return this.#members[name] === undefined ? null : this.text(name);
  }

  /** One of a closed set of words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word {
    const value = this.#members[name];
    return words.find((word) => word === value) ?? refuse(name);
  }

  wordOr<Word extends string>(name: string, words: readonly Word[], otherwise: Word): Word {
    return this.#members[name] === undefined ? otherwise : this.word(name, words);
  }

  /** Absent is false. */
  flag(name: string): boolean {
    return this.#members[name] === undefined ? false : this.flagGiven(name);
  }

  /** Like {@link flag}, but the member must be present. */
  flagGiven(name: string): boolean {
    const value = this.#members[name];
    return typeof value === "boolean" ? value : refuse(name);
  }

  whole(name: string): number {
    const value = this.#members[name];
    return isWhole(value) ? value : refuse(name);
  }

  /** A whole number >= 1. */
  positive(name: string): number {
    const value = this.whole(name);
    return value >= 1 ? value : refuse(name);
  }

  positiveOr(name: string, otherwise: number): number {
    return this.#members[name] === undefined ? otherwise : this.positive(name);
  }

  wholeOr(name: string, otherwise: number): number {
    return this.#members[name] === undefined ? otherwise : this.whole(name);
  }

  instantOrNull(name: string): EpochMs | null {
    return this.#members[name] === undefined ? null : this.whole(name);
  }

  /** Absent is an empty list. */
  texts(name: string): readonly string[] {
    const value = this.#members[name];
    if (value === undefined) return NO_ITEMS;
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) refuse(name);
    return deepFrozen(value) as readonly string[];
  }

  /** A list of objects, each read by `read`. Absent is an empty list. */
  list<Item>(name: string, read: (item: BodyReader) => Item): readonly Item[] {
    const value = this.#members[name];
    if (value === undefined) return NO_ITEMS;
    if (!Array.isArray(value)) return refuse(name);
    return Object.freeze(
      value.map((item: JsonValue) => Object.freeze(read(new BodyReader(item, 1)))),
    );
  }

  /** Whether the member is an object; it may be a word instead. */
  isObject(name: string): boolean {
    return typeof this.#members[name] === "object";
  }

  /** An object, read by `read`, or null if absent. */
  objectOrNull<Item>(name: string, read: (item: BodyReader) => Item): Item | null {
    const value = this.#members[name];
    return value === undefined ? null : Object.freeze(read(new BodyReader(value, 1)));
  }

  /** An opaque JSON object, or null if absent. */
  jsonOrNull(name: string): { readonly [member: string]: JsonValue } | null {
    const value = this.#members[name];
    if (value === undefined) return null;
    if (!isObject(value)) return refuse(name);
    return deepFrozen(value) as { readonly [member: string]: JsonValue };
  }
}

function refuse(name: string): never {
  throw damaged(name);
}

/** Internal: `defineRecord` turns it into the error that callers see. */
function damaged(name: string): TypeError {
  return new TypeError(`the stored "${name}" is not what was written`);
}

/** Reads a refill of a key or of an identity. `from`: the instant that its span, if it has one, is counted from. */
export function readRefill(body: BodyReader, from: EpochMs): Refill {
  const amount = body.positive("amount");
  const carryOver = body.positiveOr("carryOver", 0);
  if (!Number.isSafeInteger(amount + carryOver)) return refuse("carryOver");
  const given = carryOver === 0 ? { amount } : { amount, carryOver };
  if (body.isObject("interval")) {
    const every = body.objectOrNull("interval", (interval) => interval.whole("every")) as number;
    return isRefillSpan(every)
      ? { interval: Object.freeze({ every }), ...given, from }
      : refuse("every");
  }
  const interval = body.word("interval", REFILL_INTERVALS);
  if (interval === "hourly" || interval === "daily") return { interval, ...given };
  const refillDay = body.positive("refillDay");
  return refillDay <= LAST_REFILL_DAY[interval]
    ? { interval, ...given, refillDay }
    : refuse("refillDay");
}

/** Reads the figures of a limit as `toWireFigures` wrote them into a record. @throws LatchkeyError `STORE_CORRUPT`. */
export function readFigures(body: BodyReader): Omit<RateLimit, "name"> {
  const limit = body.positive("limit");
  const figures = fromWireFigures({
    limit,
    duration: body.positive("duration"),
    algorithm: body.wordOr("algorithm", LIMIT_ALGORITHMS, "fixed"),
    burst: body.positiveOr("burst", limit),
    shadow: body.flag("shadow"),
  });
  if (!isCountable(figures)) throw corruptRecord("burst");
  return figures;
}
