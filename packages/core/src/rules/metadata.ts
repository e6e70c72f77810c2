import type { JsonValue } from "../lib/json.js";
import { isPlainObject } from "../lib/own-fields.js";

/** Free-form metadata of a key or an identity: a JSON object. */
export type Metadata = { readonly [member: string]: JsonValue };

/** Bounds of metadata. The object itself is level 1. */
export const METADATA_BOUNDS = { maxBytes: 16_384, maxDepth: 16 } as const;

/** Member names that could reach a prototype when a careless program copies the object. */
const REFUSED_MEMBERS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** A frozen copy of accepted metadata, or what is wrong with it. */
export type MetadataCheck =
  | { readonly ok: true; readonly metadata: Metadata }
  | { readonly ok: false; readonly message: string };

/**
 * Checks metadata and copies it, deep-frozen, so that no later change by the caller reaches a store.
 *
 * At most 16 KiB of JSON in UTF-8 and 16 levels deep. Numbers must be finite. Depth is bounded before anything
 * recursive sees the value, and size while it is copied, so that a hostile, cyclic or shared object costs neither
 * stack nor time.
 */
export function checkMetadata(value: unknown): MetadataCheck {
  if (!isPlainObject(value)) return refuse("must be a JSON object");
  try {
    const metadata = copyJson(value, 1, { bytes: METADATA_BOUNDS.maxBytes }) as Metadata;
    const bytes = new TextEncoder().encode(JSON.stringify(metadata)).length;
    if (bytes > METADATA_BOUNDS.maxBytes) return refuse(TOO_LARGE);
    return { ok: true, metadata };
  } catch (error) {
    if (error instanceof MetadataRefusal) return refuse(messageOf(error));
    throw error;
  }
}

/** Refuses a member. The path of the member is added on the way out. */
class MetadataRefusal extends Error {
  /** Names and indexes, outermost first; empty if the refusal concerns the whole object. */
  readonly path: (string | number)[] = [];
  /** What the member is instead of JSON, such as `NaN` or `undefined`. */
  readonly what: string | undefined;

  constructor(message: string, what?: string) {
    super(message);
    this.what = what;
  }
}

/** Longest path in a message, in characters: names may be long. */
const LONGEST_PATH = 100;

function messageOf({ message, path, what }: MetadataRefusal): string {
  if (what === undefined) return message;
  return `${message}: "${path.join(".").slice(0, LONGEST_PATH)}" is ${what}`;
}

const TOO_LARGE = `must be at most ${METADATA_BOUNDS.maxBytes} bytes of JSON`;

/**
 * Bytes that the JSON of a copy may still take. The count is a lower bound, and copying stops as soon as the JSON is sure to be too large.
 * Without it, an object that refers to another one ten times, sixteen levels deep, would be written out 10^16 times before its size is
 * checked.
 */
interface Room {
  bytes: number;
}

function take(room: Room, bytes: number): void {
  room.bytes -= bytes;
  if (room.bytes < 0) throw new MetadataRefusal(TOO_LARGE);
}

function refuse(message: string): MetadataCheck {
  return { ok: false, message };
}

/** The recursion is at most `maxDepth` deep, whatever the input. */
function copyJson(value: unknown, depth: number, room: Room): JsonValue {
  take(room, typeof value === "string" ? value.length : 1);
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value))
      throw new MetadataRefusal("must contain finite numbers only", String(value));
    return value + 0; // JSON has no negative zero, so none is kept: every store must give back the same value
  }
  if (!Array.isArray(value) && !isPlainObject(value))
    throw new MetadataRefusal("must contain JSON values only", kindOf(value));
  if (depth > METADATA_BOUNDS.maxDepth)
    throw new MetadataRefusal(`must be at most ${METADATA_BOUNDS.maxDepth} levels deep`);
  if (Array.isArray(value))
    return Object.freeze(
      Array.from(value, (member, index) => copyMember(index, member, depth + 1, room)),
    );
  const members = Object.entries(value).map(([member, content]) => {
    if (REFUSED_MEMBERS.has(member))
      throw new MetadataRefusal("must not have a member named __proto__, constructor or prototype");
    take(room, member.length);
    return [member, copyMember(member, content, depth + 1, room)] as const;
  });
  // Not assigned one by one: if Object.prototype is frozen, that throws for each name that it has, such as `toString`.
  return Object.freeze(Object.fromEntries(members));
}

function copyMember(name: string | number, value: unknown, depth: number, room: Room): JsonValue {
  try {
    return copyJson(value, depth, room);
  } catch (error) {
    if (error instanceof MetadataRefusal) error.path.unshift(name);
    throw error;
  }
}

/** Describes a value that is not JSON by its type, never by its content. */
function kindOf(value: unknown): string {
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an object of a class" : `a ${typeof value}`;
}
