import { corruptRecord, LatchkeyError, type Metadata } from "@latchkey/core";

/** Thrown by the readers below. Says nothing of the value, which may be anything. */
class DamagedValue extends LatchkeyError {
  constructor() {
    super("STORE_CORRUPT", "a stored record is damaged and was not used");
  }
}

/**
 * Reads a record that has to be as latchkey wrote it.
 *
 * @param kind - What the record is: `key`, `identity` …
 * @param id - Its id: repeated in the error only where it looks like one.
 * @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written.
 */
export function readStored<Record>(kind: string, id: unknown, read: () => Record): Record {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedValue)) throw error;
    const isId = typeof id === "string" && /^[a-z]+_[A-Za-z0-9]{1,64}$/.test(id);
    throw corruptRecord(isId ? `${kind} ${id}` : kind);
  }
}

/** Gives up on the record that is being read. */
export function damaged(): never {
  throw new DamagedValue();
}

/** A text. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : damaged();
}

const DIGITS = /^(0|[1-9][0-9]{0,15})$/;

/** A whole number from 0 to 2^53 − 1 as Redis holds it: in decimal digits. */
export function whole(value: unknown): number {
  if (typeof value !== "string" || !DIGITS.test(value)) return damaged();
  return safe(Number(value), 0);
}

/** A whole number from `min` to 2^53 − 1 out of JSON. */
export function safe(value: unknown, min: number): number {
  return Number.isSafeInteger(value) && (value as number) >= min ? (value as number) : damaged();
}

/** Decimal digits for a script. Anything but a whole number >= 0 would mean something else to Lua. */
export function digits(value: number): string {
  if (Number.isSafeInteger(value) && value >= 0) return String(value);
  throw new TypeError("numbers of a charge must be whole numbers >= 0");
}

/** A boolean, stored as "0" or "1". */
export function flag(value: unknown): boolean {
  return value === "1" || (value === "0" ? false : damaged());
}

/** What may be absent, and otherwise is read as told. */
export function optional<Value>(
  value: string | undefined,
  read: (value: string) => Value,
): Value | null {
  return value === undefined ? null : read(value);
}

/** What may be null in JSON, and otherwise is read as told. */
export function nullable<Value>(value: unknown, read: (value: unknown) => Value): Value | null {
  return value === null ? null : read(value);
}

/** Parses JSON. The parser's own error quotes what it met, and is not passed on. */
export function json(value: unknown): unknown {
  try {
    return JSON.parse(text(value));
  } catch {
    return damaged();
  }
}

/** A JSON object. */
export function object(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : damaged();
}

/** Metadata, as JSON. */
export function metadata(value: unknown): Metadata {
  return object(json(value)) as Metadata;
}

/** A JSON list. */
export function list<Item>(value: unknown, read: (item: unknown) => Item): readonly Item[] {
  return Array.isArray(value) ? value.map((item) => read(item)) : damaged();
}
