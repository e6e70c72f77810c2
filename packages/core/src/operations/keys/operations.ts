import type { Duration } from "../../rules/duration.js";
import type { KeyOrder } from "../../rules/keys/order.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { ApiReference, KeyReference, PageInput } from "../input.js";
import type { PageInfo } from "../read.js";
import type { BesideInput } from "../repeats/repetition-input.js";
import type { KeyFilters } from "./find/filter-input.js";
import type {
  CreatedKeys,
  CreateKeysInput,
  CreateKeysOptions,
  PartlyCreatedKeys,
} from "./import-input.js";
import type { CreateKeyInput, UpdateKeyInput } from "./settings.js";
import type { KeyView } from "./view.js";

/** A key that was issued. */
export interface CreatedKey {
  /** `key_…`; not a secret. */
  readonly keyId: string;
  /** The secret. Pass it on and keep no copy. */
  readonly key: string;
}

/** A page of keys; without `cursor` it is the last one. With filters it may be short, or empty, and have a `cursor` that goes on. */
export interface FoundKeys<Types extends LatchkeyTypes = DefaultTypes> extends PageInfo {
  /** In the order of their creation, unless another was asked for. */
  readonly keys: readonly KeyView<Types>[];
  /** Exact number of live keys of the API. Only where nothing was asked for but an `apiId`, and perhaps an `externalId`. */
  readonly total?: number;
  /** How many keys were read for this page: at most 2,000. Only with filters or an order. */
  readonly scanned?: number;
}

/** A page of the keys of an API in the order of their creation; without `cursor` it is the last one. */
export interface KeyList<Types extends LatchkeyTypes = DefaultTypes> extends FoundKeys<Types> {
  /** Exact number of live keys of the API, whatever the owner. */
  readonly total: number;
}

/** Which keys are listed, in which order, and how they are shown. */
export type ListKeysInput<Types extends LatchkeyTypes = DefaultTypes> = PageInput &
  KeyFilters<Types> & {
    /** Only keys of this API. */
    readonly apiId?: string | undefined;
    /** Only keys of this user: your own id, 1 to 255 characters. */
    readonly externalId?: string | undefined;
    /** Only keys of this identity; not with `externalId`. */
    readonly identityId?: string | undefined;
    /** Deprecated name of `externalId`, which wins. */
    readonly ownerId?: string | undefined;
    /**
     * `createdAt` unless given. A key that was imported comes when it was imported. Another order is for the keys of an API or owner with at
     * most 2,000. A key without `expires` comes after all others, and one that was never used before them.
     */
    readonly orderBy?: KeyOrder | undefined;
    /** `asc` unless given: the first first. */
    readonly order?: "asc" | "desc" | undefined;
    /** Whether secrets of recoverable keys are answered, too: false unless given. Needs a vault. */
    readonly decrypt?: boolean | null | undefined;
  };

/** What is asked for a list that has a `total`. */
type PlainListInput = Pick<ListKeysInput, "externalId" | "ownerId" | "decrypt"> &
  PageInput &
  ApiReference & {
    readonly [Field in keyof KeyFilters | "identityId" | "orderBy" | "order"]?: undefined;
  };

/** What listKeys answers within this process alone: it cannot be asked for over HTTP. */
export interface ListKeysScope {
  /** Whether each key has `stored`, with its hash: false unless given. */
  readonly forExport?: boolean | undefined;
}

/** The uses of a key or an identity after updateRemaining. */
export interface RemainingUses {
  /** Uses left, whole and >= 0; absent when unlimited. */
  readonly remaining?: number;
}

/** Input of updateRemaining: exactly one of `keyId`, `identityId` and `externalId`. */
export type UpdateRemainingInput = {
  /** Id of a key that has uses of its own. */
  readonly keyId?: string | undefined;
  /** Id of an identity, whose uses the keys with `usesFrom: "identity"` share. */
  readonly identityId?: string | undefined;
  /** Your own id of the user: 1 to 255 characters. */
  readonly externalId?: string | undefined;
  /** What is done to the uses left. */
  readonly op: "set" | "increment" | "decrement";
  /** With `set` a whole number >= 0, or null for unlimited; with the others a whole number >= 1. */
  readonly value: number | null;
};

/** For whom a rotation is done. */
export interface RotationScope {
  /** Asked before the secret of a recoverable key is sealed for its successor; throws where the caller may not have that. */
  readonly beforeSealing?: (apiId: string) => void;
}

/** What became of a page of recoverable secrets. `cursor`: keys follow. */
export interface Reencrypted extends PageInfo {
  /** Secrets that were sealed anew. */
  readonly reencrypted: number;
  /** Secrets that did not open; absent when none. */
  readonly unopened?: number;
}

/** Operations that create, change and delete keys. */
export interface KeyOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Issues a key: its record, its counters, and its identity where there is none yet, in one transaction.
   *
   * @returns The secret, which is shown this once, and the id of the key.
   * @throws LatchkeyError `NOT_FOUND` for an unknown API, `PRECONDITION_FAILED` naming every role and permission that does not
   * exist (unless `create` is true), for `recoverable` without a vault, and for what is above a ceiling of the API. Nothing is written
   * then.
   * @example
   * const { keyId, key } = await latchkey.createKey({
   *   apiId,
   *   prefix: "pay_live",
   *   externalId: "user_1",
   *   remaining: 1_000,
   *   refill: { interval: "monthly", amount: 1_000 },
   *   ratelimits: [{ name: "requests", limit: 10, duration: "1s", autoApply: true }],
   * });
   */
  createKey(input: CreateKeyInput<Types>): Promise<CreatedKey>;
  /**
   * Takes over those keys of a list that it can, in one atomic write: a key that is refused stops no other.
   *
   * @throws LatchkeyError for a list or options that are wrong themselves, and where the store fails. Why a key is refused is in its result.
   * @example
   * const { results } = await latchkey.createKeys([{ apiId, plaintext: "old_3f9c2a7d51e84b06" }], { partial: true });
   */
  createKeys(input: CreateKeysInput<Types>, options: CreateKeysOptions): Promise<PartlyCreatedKeys>;
  /**
   * Takes over keys that another system issued, so that their secrets verify here: all of them in one atomic write, or none.
   *
   * A secret that comes as its hash verifies whether or not a pepper is configured; one that comes as plaintext is stored
   * under the pepper, like a new key. Secrets with little randomness are not made any better: the hash is a fast one. `expires`
   * may have passed, and `remaining` may be 0: it was used up there.
   *
   * @throws LatchkeyError `BAD_REQUEST` with paths that begin with the place in the list (`3.hash.value`), also for a plaintext
   * that could never verify; `NOT_FOUND` for an unknown API; `CONFLICT` for a secret that exists already, in the workspace or
   * twice in the list; `PRECONDITION_FAILED` naming every role and permission that does not exist, and for `recoverable`
   * without a vault. Nothing is written then.
   * @example
   * const { keyIds } = await latchkey.createKeys([
   *   { apiId, plaintext: "old_3f9c2a7d51e84b06" },
   *   { apiId, hash: { value: "a".repeat(64), variant: "sha256_hex" }, prefix: "old" },
   * ]);
   */
  createKeys(input: CreateKeysInput<Types>, beside?: BesideInput): Promise<CreatedKeys>;
  /**
   * Reads a key, as lists show it.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` for `decrypt` without a vault.
   * @example
   * const { remaining, lastUsedAt } = await latchkey.getKey({ keyId });
   */
  getKey(
    input: KeyReference & {
      /** Whether the secret of a recoverable key is answered, too: false unless given. Needs a vault. */
      readonly decrypt?: boolean | null | undefined;
    },
  ): Promise<KeyView<Types>>;
  /**
   * The id of the API of a key, for whoever decides who may revoke it: nothing but the key needs to be readable.
   *
   * @returns Null where this workspace has no such key, or it is damaged.
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const mayRevoke = (await latchkey.findApiOfKey({ keyId })) === apiId;
   */
  findApiOfKey(input: KeyReference): Promise<string | null>;
  /**
   * Lists the keys of an API, or those of one user in it, a page at a time; `keysOf()` of a latchkey goes through all of them.
   *
   * @throws LatchkeyError `NOT_FOUND` for an unknown API, `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { keys, total, cursor } = await latchkey.listKeys({ apiId, externalId: "user_1" });
   */
  listKeys(input: PlainListInput, scope?: ListKeysScope): Promise<KeyList<Types>>;
  /**
   * Finds keys: of the workspace, of an API or of an owner; all of them, or those that every filter keeps; a page at a time. `keysOf()`
   * of a latchkey goes through all of them.
   *
   * A page reads at most 2,000 keys. Where filters keep few, it has fewer than `limit`, or none, and a `cursor` that goes on.
   *
   * In the order of creation, the pages hold each key once that was there and matched all the time, whatever changes meanwhile; in
   * another order, each of those whose value stayed. An unknown owner has no keys.
   *
   * @throws LatchkeyError `NOT_FOUND` for an unknown API; `BAD_REQUEST` for a cursor that is damaged or of another question;
   * `PRECONDITION_FAILED`, reason `too-many-keys`, for an order by `expires` or `lastUsedAt` without an API or owner, or of more than
   * 2,000 keys.
   * @example
   * const weekAhead = Date.now() + 7 * 86_400_000;
   * const { keys, cursor } = await latchkey.listKeys({ enabled: true, expiresBefore: weekAhead });
   */
  listKeys(input?: ListKeysInput<Types>, scope?: ListKeysScope): Promise<FoundKeys<Types>>;
  /**
   * Changes the configuration of a key in one atomic, guarded write. The next verification, from any process, sees it.
   *
   * A key whose record, API or identity is damaged can still be switched off: revoking needs no readable record.
   *
   * A key that was rotated dies at its expiry for good: it can be put forward, not off. While a key takes its uses from its
   * identity its own count is at rest, and goes on as it was when the key has its own again.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` when a role or permission does not exist, when an exhausted key
   * is enabled without a new `remaining`, for a later expiry of a rotated key, and for `remaining` or `refill` of a key that
   * takes its uses from its identity; `BAD_REQUEST` for a refill of a key without `remaining` and for a key that shall take its
   * uses from an identity that it does not have. Nothing is written then.
   * @example
   * await latchkey.updateKey({ keyId, name: "build server", expires: null });
   */
  updateKey(input: UpdateKeyInput<Types>): Promise<Record<string, never>>;
  /**
   * Sets, raises or lowers the uses left of a key, or those that the keys of an identity share, in one atomic step; a refill that is
   * due is applied first. Setting null makes them unlimited, and takes away the refill.
   *
   * @throws LatchkeyError `NOT_FOUND`; `BAD_REQUEST` for an increment or decrement of unlimited uses; `PRECONDITION_FAILED` for a
   * decrement below 0, and for a key that takes its uses from its identity. A refusal changes nothing.
   * @example
   * const { remaining } = await latchkey.updateRemaining({ keyId, op: "increment", value: 500 });
   * await latchkey.updateRemaining({ externalId: "user_1", op: "set", value: 2_000 });
   */
  updateRemaining(input: UpdateRemainingInput): Promise<RemainingUses>;
  /**
   * Puts a key with a new secret in the place of one: another id, the same settings, and the same counters, which the two share
   * for as long as both live. The old key lives until `graceMs` from now or until its own expiry, whichever comes first, and is
   * dead at that instant; the successor keeps the old expiry. The successor of a key that is switched off is switched off too.
   *
   * The new secret has the prefix and the number of random bytes of the old one. Of a key that was imported only the stored
   * beginning is known: what stands before its last `_` is the prefix, and the length is that of createKey.
   *
   * A key has one successor: of any number of racers one gets it.
   *
   * @param scope - For hosts that authorise callers themselves.
   * @throws LatchkeyError `NOT_FOUND`; `CONFLICT` for a key that was rotated before; `PRECONDITION_FAILED` for a key that has
   * expired, and for a recoverable one without a vault. Nothing is written then.
   * @example
   * const successor = await latchkey.rotateKey({ keyId, graceMs: 24 * 60 * 60 * 1_000 });
   */
  rotateKey(
    input: KeyReference & {
      /** How long the old secret goes on: whole ms, 0 to a year (31,536,000,000), or a text such as `"30s"` or `"1d"`; 0 unless given. Never beyond its own expiry. */
      readonly graceMs?: Duration | undefined;
    },
    scope?: RotationScope,
  ): Promise<CreatedKey>;
  /**
   * Deletes a key. When this has resolved, no verification that starts later, from any process, succeeds; its encrypted secret is
   * erased.
   *
   * Nothing of the record is kept. What stays are the entries of the audit log and the statistics,
   * until they are pruned. A key whose record cannot be read is deleted all the same; its audit entry is `unreadable`.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key.
   * @example
   * await latchkey.deleteKey({ keyId });
   */
  deleteKey(input: KeyReference): Promise<Record<string, never>>;
  /**
   * Seals the secrets of recoverable keys with the vault's current key, a page of an API's keys at a time: call it with each
   * answered `cursor` until none comes back, then drop the old key from the ring. Safe beside traffic, and safe to repeat: a
   * secret that is sealed with the current key already is left alone.
   *
   * A secret that does not open, since its ring key is gone or it was tampered with, is left as it is and counted.
   *
   * @param input - `limit` is how many keys are looked at.
   * @throws LatchkeyError `PRECONDITION_FAILED` without a vault, `NOT_FOUND` for an unknown API.
   * @example
   * let cursor;
   * do ({ cursor } = await latchkey.reencryptKeys({ apiId, cursor }));
   * while (cursor !== undefined);
   */
  reencryptKeys(input: PageInput & ApiReference): Promise<Reencrypted>;
}
