import { corruptRecord } from "@latchkey/core";

/** Thrown by the readers below. Says nothing of the value, which may be anything. */
class DamagedValue extends Error {}

/**
 * Reads a row that has to be as latchkey wrote it.
 *
 * @param kind - What the row is: `key`, `identity` …
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

export function damaged(): never {
  throw new DamagedValue();
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : damaged();
}

/** A whole number from `min` to 2^53 − 1. */
export function whole(value: unknown, min = 0): number {
  return Number.isSafeInteger(value) && (value as number) >= min ? (value as number) : damaged();
}

/** A boolean, stored as 0 or 1. */
export function flag(value: unknown): boolean {
  return value === 1 || (value === 0 ? false : damaged());
}

/** A boolean, as JSON has it. */
export function truth(value: unknown): boolean {
  return typeof value === "boolean" ? value : damaged();
}

/** What may be NULL, and otherwise is read as told. */
export function nullable<Value>(value: unknown, read: (value: unknown) => Value): Value | null {
  return value === null ? null : read(value);
}

/** Parses JSON. The parser's own error quotes what it met, and is not passed on. */
export function json(value: unknown): unknown {
  // What most lists of most keys are: no limits, no roles, no permissions.
  if (value === "[]") return [];
  try {
    return JSON.parse(text(value));
  } catch {
    return damaged();
  }
}

export function object(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : damaged();
}

export function list<Item>(value: unknown, read: (item: unknown) => Item): readonly Item[] {
  return Array.isArray(value) ? value.map((item) => read(item)) : damaged();
}
