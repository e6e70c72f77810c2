import { LatchkeyError, type LatchkeyErrorOptions } from "../../errors.js";
import type { JsonValue } from "../../lib/json.js";

/** Marks an error in a stored answer, and a caller's object that looks like one. */
const ERROR = "$error";
const PLAIN = "$plain";

/** Turns a result into its remembered form: without its secret, which is shown only once. */
export function toStoredAnswer(answer: unknown): JsonValue | undefined {
  const { key, ...shown } = Object(answer) as Readonly<Record<string, unknown>>;
  return toStored(typeof key === "string" ? { ...shown, secretShownBefore: true } : answer);
}

function toStored(value: unknown): JsonValue | undefined {
  if (value instanceof LatchkeyError) {
    const { code, message, issues, reason, details } = value;
    return { [ERROR]: toStored({ code, message, issues, reason, details }) as JsonValue };
  }
  if (Array.isArray(value)) return value.map((item) => toStored(item) ?? null);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const stored = toStored(member);
    return stored === undefined ? [] : [[name, stored] as const];
  });
  const stored = Object.fromEntries(members);
  return ERROR in stored || PLAIN in stored ? { [PLAIN]: stored } : stored;
}

/** Turns the remembered form back into the result. */
export function fromStoredAnswer(stored: JsonValue | undefined): unknown {
  if (Array.isArray(stored)) return stored.map((item: JsonValue) => fromStoredAnswer(item));
  if (typeof stored !== "object" || stored === null) return stored;
  const { [ERROR]: error, [PLAIN]: plain } = stored as Readonly<Record<string, JsonValue>>;
  if (error !== undefined) {
    const { code, message, ...options } = error as unknown as LatchkeyError;
    return new LatchkeyError(code, message, options as LatchkeyErrorOptions);
  }
  const members = Object.entries((plain ?? stored) as object);
  return Object.fromEntries(members.map(([name, member]) => [name, fromStoredAnswer(member)]));
}
