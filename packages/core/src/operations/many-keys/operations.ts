import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { UpdateKeyInput } from "../keys/settings.js";

/**
 * Keys of an API, of an owner, of an owner in one API, or with these ids (`keyIds` alone). A field that is present but `undefined` is
 * refused, because ignoring it would change more keys.
 */
export interface KeysReference {
  /** Id of the API. */
  readonly apiId?: string | undefined;
  /** Id of the identity, even of a deleted one. It wins if both are given. */
  readonly identityId?: string | undefined;
  /** Your own id of the user: 1 to 255 characters. An unknown one has no keys. */
  readonly externalId?: string | undefined;
  /** Ids of keys, at most 1,000. Unknown ones are ignored. */
  readonly keyIds?: readonly string[] | undefined;
}

/** Result of deleteKeys. */
export interface DeletedKeys {
  /** How many keys this call deleted. */
  readonly deletedKeys: number;
}

/** Result of disableKeys. */
export interface DisabledKeys {
  /** How many keys this call disabled, not counting those that were disabled before. */
  readonly disabledKeys: number;
}

/** Result of enableKeys. */
export interface EnabledKeys {
  /** How many keys this call enabled, not counting those that were enabled before. */
  readonly enabledKeys: number;
  /** Damaged keys, which stay as they are; absent: none. */
  readonly damaged?: number;
}

export interface ManyKeysOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Deletes the keys of an API, of an owner, or with these ids, in bounded, atomic steps that do not hold up other calls. When it resolves,
   * none of these keys that existed when it was called verifies, nor any successor from a rotation meanwhile. Keys that are created
   * meanwhile may or may not be deleted; keys that get another owner meanwhile stay. If it fails on the way, call it again.
   *
   * Damaged keys are deleted too. Audit entries name only the API and the identity of each key.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * const { deletedKeys } = await latchkey.deleteKeys({ externalId: "user_1" });
   */
  deleteKeys(input: KeysReference): Promise<DeletedKeys>;
  /**
   * Disables the keys of an API, of an owner, or with these ids, with the same guarantees as deleteKeys. Damaged keys are disabled too.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * const { disabledKeys } = await latchkey.disableKeys({ apiId, externalId: "user_1" });
   */
  disableKeys(input: KeysReference): Promise<DisabledKeys>;
  /**
   * Enables the keys of an API, of an owner, or with these ids, in bounded, atomic steps: the reverse of disableKeys. Nothing else of a key
   * changes: one that has expired or has no uses left is still refused until it gets a later expiry, or uses. (updateKey with `enabled:
   * true` also clears an expiry that has passed, and refuses a key without uses.)
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * const { enabledKeys } = await latchkey.enableKeys({ externalId: "user_1" });
   */
  enableKeys(input: KeysReference): Promise<EnabledKeys>;
  /**
   * Changes many keys like updateKey changes one: all in one atomic write, or none.
   *
   * @throws LatchkeyError like updateKey; if it concerns one key, `details.keyId` says which. Nothing is written then.
   * @example
   * await latchkey.updateKeys({ keyIds: [keyId], expires: latchkey.now() + 30 * 86_400_000 });
   */
  updateKeys(input: UpdateKeysInput<Types>): Promise<Record<string, never>>;
}

/** Input of updateKeys: omitted fields stay, null clears. */
export type UpdateKeysInput<Types extends LatchkeyTypes = DefaultTypes> = Omit<
  UpdateKeyInput<Types>,
  "keyId"
> & {
  /** Ids of the keys: 1 to 100. */
  readonly keyIds: readonly string[];
};
