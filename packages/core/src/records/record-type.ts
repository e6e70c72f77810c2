import { corruptRecord } from "../errors.js";
import { deepFrozen, type JsonValue } from "../lib/json.js";
import type { EpochMs } from "../time.js";
import { BodyReader } from "./body.js";

/** Numbers of the kinds in database tables. They never change. */
export const KIND_CODE = {
  workspace: 1,
  api: 2,
  key: 3,
  identity: 4,
  role: 5,
  permission: 6,
  rootKey: 7,
  rootKeyPointer: 8,
  auditEntry: 9,
  rememberedAnswer: 10,
  deadline: 11,
  delivery: 12,
  sender: 13,
  noticed: 14,
  portalSession: 15,
  tag: 16,
} as const;

/** Kind of a record. To a store it is just part of an address. */
export type RecordKind = keyof typeof KIND_CODE;

/** Every {@link RecordKind}. */
export const RECORD_KINDS = Object.keys(KIND_CODE) as readonly RecordKind[];

/** A record as a store keeps it. */
export interface StoredRecord {
  readonly kind: RecordKind;
  /** Unique in its workspace and kind: 1 to 128 ASCII characters without spaces. Lists are in ascending order of it. */
  readonly id: string;
  /**
   * A whole number from 1 to 2^53 − 1, drawn at random by core whenever processes must read the record again; not when only its counters
   * change. A higher version is not a later one. A store returns 0 for a version that it cannot read, and numbers entries of the audit log
   * itself: see `Put`.
   */
  readonly version: number;
  /** Id of the identity to return along with this record, whether or not it exists; null for none. */
  readonly link: string | null;
  /** A JSON value, deeply frozen, opaque to stores. `undefined` if the store cannot parse it. */
  readonly body: JsonValue | undefined;
  /**
   * Core's own cache, for stores that return the same frozen record repeatedly. Each version has its own. An accessor of the class, so that
   * copies lack it.
   */
  memo?: unknown;
}

/** A unique name of a record: the hash of a key, the `externalId` of an identity. */
export interface RecordClaim {
  readonly index: string;
  readonly value: string;
}

/** A list that a record is in. `of`: as in `ListEntry`. */
export interface RecordList {
  readonly list: string;
  readonly of?: string;
}

/** Members of a body. Undefined and null members are left out. */
type BodyMembers = Readonly<Record<string, JsonValue | undefined>>;

/** Everything about one kind of record: how it is stored, what it claims, which lists it is in. */
export interface RecordType<Value> {
  readonly kind: RecordKind;
  encode(value: Value): StoredRecord;
  /** The record as core uses it, frozen. @throws LatchkeyError `STORE_CORRUPT` if it is damaged. */
  decode(stored: StoredRecord, workspaceId: string): Value;
  claims(value: Value): readonly RecordClaim[];
  lists(value: Value): readonly RecordList[];
  /** When it expires, for records whose expiry is noticed: each is written with a {@link Deadline}. Null for all others. */
  expiry(value: Value): Expiry | null;
}

export interface Expiry {
  readonly keyId: string;
  readonly at: EpochMs;
}

/** What every record has, whatever its kind. */
export interface RecordHead {
  /** Unique in its workspace and kind. */
  readonly id: string;
  readonly workspaceId: string;
}

/** The same for a kind whose records change. */
export interface VersionedHead extends RecordHead {
  /** Changes whenever processes must read the record again, never with a use: see `StoredRecord`. */
  readonly version: number;
}

/**
 * Version of the layout of all bodies. Members may be added under the same number, if a process that does not know them may ignore them;
 * changing the meaning of a member raises it.
 */
const FORMAT = 1;

/**
 * Members of a body that this version does not know, because a later one wrote them. They stay with the value, also in a copy of it with
 * other fields, so that a change by this version does not lose them. Only members of the body itself: what a later version adds to an object
 * in it, such as a limit, is lost with a change.
 */
const LATER = Symbol("members of a later version");

interface Kept {
  readonly [LATER]?: BodyMembers | undefined;
}

/** A copy without the members of a later version, for an erasure: this version cannot say what they hold. */
export function withoutLater<Value extends object>(value: Value): Omit<Value, typeof LATER> {
  const { [LATER]: _, ...known } = value as Value & Kept;
  return known;
}

/** Builds a {@link RecordType} from what is specific to a kind. */
export function defineRecord<
  Value extends { readonly id: string; readonly workspaceId?: string; readonly version?: number },
>(type: {
  readonly kind: RecordKind;
  /** Default: its field `version`; without such a field always 1. */
  readonly version?: (value: Value) => number;
  readonly link?: (value: Value) => string | null;
  readonly write: (value: Value) => BodyMembers;
  readonly read: (body: BodyReader, head: VersionedHead, link: string | null) => Value;
  readonly claims?: (value: Value) => readonly RecordClaim[];
  /** Names of the small lists that it is in, besides the list of its kind. Default: none. */
  readonly smallLists?: (value: Value) => readonly string[];
  /** Default: the list of its kind, and its small lists. */
  readonly lists?: (value: Value) => readonly RecordList[];
  readonly expiry?: (value: Value) => Expiry | null;
}): RecordType<Value> {
  const { kind, version = (value) => value.version ?? 1, link = () => null, write } = type;
  const { smallLists = () => [] } = type;
  let names: ReadonlySet<string> | null = null;
  /** The value with the members of a body that `write`, which has the same names for every value, does not have. */
  const withLater = (value: Value, body: BodyMembers): Value & Kept => {
    names ??= new Set(["format", ...Object.keys(write(value))]);
    // Assigned to a body, `__proto__` would be no member of it.
    const later = Object.entries(body).filter(
      ([name, member]) => !names?.has(name) && member !== null && name !== "__proto__",
    );
    return later.length === 0
      ? value
      : { ...value, [LATER]: deepFrozen(Object.fromEntries(later) as JsonValue) as BodyMembers };
  };
  const ownLists = (value: Value): readonly RecordList[] => [
    { list: kind },
    ...smallLists(value).map((of) => ({ list: kind, of })),
  ];
  return {
    kind,
    encode: (value: Value & Kept) => ({
      kind,
      id: value.id,
      version: version(value),
      link: link(value),
      body: withoutEmpty(value[LATER] ? { ...write(value), ...value[LATER] } : write(value)),
    }),
    decode: (stored, workspaceId) => {
      const { id, version, link, body } = stored;
      const known = stored.memo as Value | undefined;
      const isKept = known !== undefined && !Object.hasOwn(Object.prototype, "memo");
      if (isKept && known.workspaceId === workspaceId) return known;
      try {
        // Versions start with 1: a store that cannot read one returns 0.
        if (version < 1) throw new TypeError("the stored version is not what was written");
        const read = type.read(new BodyReader(body, FORMAT), { id, workspaceId, version }, link);
        const value = Object.freeze(withLater(read, body as BodyMembers));
        if ("memo" in stored) stored.memo = value;
        return value;
      } catch (error) {
        // A body that is nested too deep to be read has not been written by core either.
        if (error instanceof TypeError || error instanceof RangeError)
          throw corruptRecord(`${kind} ${id}`);
        throw error;
      }
    },
    claims: type.claims ?? (() => []),
    lists: type.lists ?? ownLists,
    expiry: type.expiry ?? (() => null),
  };
}

/** A frozen body of the members that have a value. */
function withoutEmpty(members: BodyMembers): JsonValue {
  const body: Record<string, JsonValue> = {};
  for (const name in members) {
    const value = members[name];
    if (value === undefined || value === null || !Object.hasOwn(members, name)) continue;
    body[name] = deepFrozen(value);
  }
  return Object.freeze(body);
}

/** A list as bodies store it: absent if empty. */
export function unlessEmpty<Item extends JsonValue>(
  items: readonly Item[],
): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}
