import type { Duration } from "../../rules/duration.js";
import type { KeyOrder } from "../../rules/keys/listing.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { ApiReference, KeyReference, PageInput } from "../input.js";
import type { PageInfo } from "../read.js";
import type { BesideInput } from "../repeats/repetition-input.js";
import type {
  CreatedKeys,
  CreateKeysInput,
  CreateKeysOptions,
  PartlyCreatedKeys,
} from "./import-input.js";
import type { KeyFilters } from "./list-question.js";
import type { CreateKeyInput, UpdateKeyInput } from "./settings.js";
import type { KeyView } from "./view.js";

/** A new key. */
export interface CreatedKey {
  /** `key_…`; not a secret. */
  readonly keyId: string;
  /** The secret. Pass it on and keep no copy. */
  readonly key: string;
}

/** A page of keys. With filters, it may have few keys or none, and still a `cursor`. */
export interface FoundKeys<Types extends LatchkeyTypes = DefaultTypes> extends PageInfo {
  /** In the order of their creation, unless `orderBy` says otherwise. */
  readonly keys: readonly KeyView<Types>[];
  /** Exact number of keys of the API. Only if you give an `apiId`, and nothing else but an `externalId`. */
  readonly total?: number;
  /** How many keys were read for this page: at most 2,000. Only with filters or an order. */
  readonly scanned?: number;
}

/** A page of the keys of an API. */
export interface KeyList<Types extends LatchkeyTypes = DefaultTypes> extends FoundKeys<Types> {
  /** Exact number of keys of the API, regardless of the owner. */
  readonly total: number;
}

/** Input of listKeys. */
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
     * Default: `createdAt`; for an imported key, the time of the import. Other orders are for an API or owner with at most 2,000 keys. A
     * key without `expires` comes after all others, and a key that was never used before all others.
     */
    readonly orderBy?: KeyOrder | undefined;
    /** Default: `asc`. */
    readonly order?: "asc" | "desc" | undefined;
    /** Whether to return secrets of recoverable keys. Needs a vault. Default: false. */
    readonly decrypt?: boolean | null | undefined;
  };

/** Input of a list that has a `total`. */
type PlainListInput = Pick<ListKeysInput, "externalId" | "ownerId" | "decrypt"> &
  PageInput &
  ApiReference & {
    readonly [Field in keyof KeyFilters | "identityId" | "orderBy" | "order"]?: undefined;
  };

/** Options of listKeys that HTTP does not have. */
export interface ListKeysScope {
  /** Whether each key has `stored`, with its hash. Default: false. */
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
  /** What to do to the uses left. */
  readonly op: "set" | "increment" | "decrement";
  /** With `set` a whole number >= 0, or null for unlimited; with the others a whole number >= 1. */
  readonly value: number | null;
};

/** For hosts that authorise callers themselves. */
export interface RotationScope {
  /** Called before the secret of a recoverable key's successor is encrypted; throws if the caller may not do that. */
  readonly beforeSealing?: (apiId: string) => void;
}

/** Result of a page of reencryptKeys. */
export interface Reencrypted extends PageInfo {
  /** Secrets that were encrypted again. */
  readonly reencrypted: number;
  /** Secrets that could not be decrypted; absent: none. */
  readonly unopened?: number;
}

export interface KeyOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates a key, and its identity if it does not exist yet, in one transaction.
   *
   * @returns The secret, which is shown only once, and the id of the key.
   * @throws LatchkeyError `NOT_FOUND` for an unknown API, `PRECONDITION_FAILED` naming the missing roles and permissions (unless `create`
   * is true), for `recoverable` without a vault, and for anything above a ceiling of the API. Nothing is written then.
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
   * Imports those keys of a list that are valid, in one atomic write. A refused key does not stop the others.
   *
   * @throws LatchkeyError if the list or the options are invalid, or the store fails. The result of each key says why it was refused.
   * @example
   * const { results } = await latchkey.createKeys([{ apiId, plaintext: "old_3f9c2a7d51e84b06" }], { partial: true });
   */
  createKeys(input: CreateKeysInput<Types>, options: CreateKeysOptions): Promise<PartlyCreatedKeys>;
  /**
   * Imports keys that another system issued, all of them in one atomic write, or none. Their secrets then verify here.
   *
   * A secret imported by its hash verifies with or without a pepper; one imported as plaintext is stored under the pepper, like a new
   * key. A weak secret stays weak, because the hash is a fast one. `expires` may be in the past, and `remaining` may be 0.
   *
   * @throws LatchkeyError `BAD_REQUEST` with paths that begin with the place in the list (`3.hash.value`), also for a plaintext that could
   * never verify; `NOT_FOUND` for an unknown API; `CONFLICT` for a secret that exists already, in the workspace or twice in the list;
   * `PRECONDITION_FAILED` naming the missing roles and permissions, and for `recoverable` without a vault. Nothing is written then.
   * @example
   * const { keyIds } = await latchkey.createKeys([
   *   { apiId, plaintext: "old_3f9c2a7d51e84b06" },
   *   { apiId, hash: { value: "a".repeat(64), variant: "sha256_hex" }, prefix: "old" },
   * ]);
   */
  createKeys(input: CreateKeysInput<Types>, beside?: BesideInput): Promise<CreatedKeys>;
  /**
   * Returns a key, with the same fields as in lists.
   *
   * @throws LatchkeyError `NOT_FOUND`, `PRECONDITION_FAILED` for `decrypt` without a vault.
   * @example
   * const { remaining, lastUsedAt } = await latchkey.getKey({ keyId });
   */
  getKey(
    input: KeyReference & {
      /** Whether to return the secret of a recoverable key. Needs a vault. Default: false. */
      readonly decrypt?: boolean | null | undefined;
    },
  ): Promise<KeyView<Types>>;
  /**
   * Returns the id of a key's API, to decide who may revoke the key. Works even if the API or the identity is damaged.
   *
   * @returns Null if this workspace has no such key, or it is damaged.
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const mayRevoke = (await latchkey.findApiOfKey({ keyId })) === apiId;
   */
  findApiOfKey(input: KeyReference): Promise<string | null>;
  /**
   * Lists the keys of an API, or those of one user in it, a page at a time; `keysOf()` iterates over all of them.
   *
   * @throws LatchkeyError `NOT_FOUND` for an unknown API, `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { keys, total, cursor } = await latchkey.listKeys({ apiId, externalId: "user_1" });
   */
  listKeys(input: PlainListInput, scope?: ListKeysScope): Promise<KeyList<Types>>;
  /**
   * Finds the keys of the workspace, an API or an owner that match all filters, a page at a time. `keysOf()` iterates over all of them.
   *
   * A page reads at most 2,000 keys. If few of them match, it has fewer than `limit`, or none, and a `cursor` to continue.
   *
   * In the order of creation, every key that exists and matches during all pages is listed once, whatever else changes meanwhile; in
   * another order, every such key whose sort value does not change. An unknown owner has no keys.
   *
   * @throws LatchkeyError `NOT_FOUND` for an unknown API; `BAD_REQUEST` for an invalid cursor; `PRECONDITION_FAILED`, reason
   * `too-many-keys`, for an order by `expires` or `lastUsedAt` without an API or owner, or of more than 2,000 keys.
   * @example
   * const weekAhead = Date.now() + 7 * 86_400_000;
   * const { keys, cursor } = await latchkey.listKeys({ enabled: true, expiresBefore: weekAhead });
   */
  listKeys(input?: ListKeysInput<Types>, scope?: ListKeysScope): Promise<FoundKeys<Types>>;
  /**
   * Changes the configuration of a key in one atomic write. The next verification, in any process, sees the change.
   *
   * With `enabled: false` alone, it works even if the record, the API or the identity is damaged.
   *
   * You can make the expiry of a rotated key earlier, but not later. While a key takes its uses from its identity, its own count stays
   * as it is, and applies again when the key uses its own.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` if a role or permission does not exist, if you enable an exhausted key without
   * a new `remaining`, for a later expiry of a rotated key, and for `remaining` or `refill` of a key that takes its uses from its
   * identity; `BAD_REQUEST` for a refill without `remaining`, and for `usesFrom: "identity"` on a key without an identity. Nothing is
   * written then.
   * @example
   * await latchkey.updateKey({ keyId, name: "build server", expires: null });
   */
  updateKey(input: UpdateKeyInput<Types>): Promise<Record<string, never>>;
  /**
   * Sets, increments or decrements the remaining uses of a key, or those that the keys of an identity share, in one atomic step. A due
   * refill is applied first. Setting null makes uses unlimited and removes the refill.
   *
   * @throws LatchkeyError `NOT_FOUND`; `BAD_REQUEST` for an increment or decrement of unlimited uses; `PRECONDITION_FAILED` for a
   * decrement below 0, and for a key that takes its uses from its identity. A refusal changes nothing.
   * @example
   * const { remaining } = await latchkey.updateRemaining({ keyId, op: "increment", value: 500 });
   * await latchkey.updateRemaining({ externalId: "user_1", op: "set", value: 2_000 });
   */
  updateRemaining(input: UpdateRemainingInput): Promise<RemainingUses>;
  /**
   * Replaces a key by one with a new secret: another id, the same settings, and the same counters, which both keys share while both are
   * valid. The old key expires `graceMs` from now, or at its own expiry if that is earlier; the new key keeps the original expiry. The
   * successor of a disabled key is disabled too.
   *
   * The new secret has the prefix and the length of the old one; for an imported key, the part of its `start` before the last `_`, and the
   * length of createKey.
   *
   * A key has one successor: of several parallel calls, one succeeds.
   *
   * @throws LatchkeyError `NOT_FOUND`; `CONFLICT` for a key that was rotated before; `PRECONDITION_FAILED` for an expired key, and for a
   * recoverable key without a vault. Nothing is written then.
   * @example
   * const successor = await latchkey.rotateKey({ keyId, graceMs: 24 * 60 * 60 * 1_000 });
   */
  rotateKey(
    input: KeyReference & {
      /**
       * How long the old secret stays valid, at most until its own expiry: whole ms, 0 to a year (31,536,000,000), or a text such as
       * `"30s"` or `"1d"`. Default: 0.
       */
      readonly graceMs?: Duration | undefined;
    },
    scope?: RotationScope,
  ): Promise<CreatedKey>;
  /**
   * Deletes a key. Once this has resolved, no verification that starts later, in any process, succeeds.
   *
   * Nothing of the record is kept, nor its encrypted secret. Its audit entries and statistics stay until you prune them. A damaged key is
   * deleted as well; its audit entry is `unreadable`.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * await latchkey.deleteKey({ keyId });
   */
  deleteKey(input: KeyReference): Promise<Record<string, never>>;
  /**
   * Encrypts the secrets of recoverable keys with the vault's current key, a page of an API's keys at a time. Call it with each returned
   * `cursor` until there is none, then remove the old key from the ring. You can run it during traffic and repeat it.
   *
   * A secret that cannot be decrypted stays unchanged and is counted.
   *
   * @param input - `limit` is how many keys are read.
   * @throws LatchkeyError `PRECONDITION_FAILED` without a vault, `NOT_FOUND` for an unknown API.
   * @example
   * let cursor;
   * do ({ cursor } = await latchkey.reencryptKeys({ apiId, cursor }));
   * while (cursor !== undefined);
   */
  reencryptKeys(input: PageInput & ApiReference): Promise<Reencrypted>;
}
