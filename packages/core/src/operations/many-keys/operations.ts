import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { UpdateKeyInput } from "../keys/settings.js";

/**
 * Which keys are meant: those of an API, of an owner, of an owner in one API, or those with these ids. `keyIds` is given alone.
 * Leave out what you do not mean: a field that is `undefined` is refused, since without it the call would change more keys.
 */
export interface KeysReference {
  /** Id of the API. */
  readonly apiId?: string | undefined;
  /** Id of the identity, also of one that was deleted. It wins where both are given. */
  readonly identityId?: string | undefined;
  /** Your own id of the user: 1 to 255 characters. One that has no identity has no keys. */
  readonly externalId?: string | undefined;
  /** Ids of keys, at most 1,000: unknown ones are passed over. */
  readonly keyIds?: readonly string[] | undefined;
}

/** What deleteKeys has deleted. */
export interface DeletedKeys {
  /** How many keys this call deleted. */
  readonly deletedKeys: number;
}

/** What disableKeys has switched off. */
export interface DisabledKeys {
  /** How many keys this call switched off: those that were off already are not among them. */
  readonly disabledKeys: number;
}

/** What enableKeys has switched on. */
export interface EnabledKeys {
  /** How many keys this call switched on: those that were on already are not among them. */
  readonly enabledKeys: number;
  /** Keys whose record cannot be read, which stay as they are; absent where there are none. */
  readonly damaged?: number;
}

/** Operations on many keys at once. */
export interface ManyKeysOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Deletes the keys of an API, of an owner, or those with these ids. It works in bounded, atomic steps: while it runs, other calls get
   * through. When it resolves, no key that existed when it was called, and was meant, verifies any more; nor does one that was made of
   * such a key by rotation meanwhile. A key that is created meanwhile may or may not be among them, and one that another call gives to
   * another owner meanwhile stays. Should it fail on the way, calling it again goes on.
   *
   * A key whose record cannot be read is deleted all the same. Audit entries name the API and the identity of each key, and no more.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
   * @example
   * const { deletedKeys } = await latchkey.deleteKeys({ externalId: "user_1" });
   */
  deleteKeys(input: KeysReference): Promise<DeletedKeys>;
  /**
   * Switches off the keys of an API, of an owner, or those with these ids, as deleteKeys deletes them: in bounded, atomic steps, and
   * when it resolves, none of them verifies. A key whose record cannot be read is switched off all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
   * @example
   * const { disabledKeys } = await latchkey.disableKeys({ apiId, externalId: "user_1" });
   */
  disableKeys(input: KeysReference): Promise<DisabledKeys>;
  /**
   * Switches on the keys of an API, of an owner, or those with these ids, in bounded, atomic steps: what disableKeys has switched off
   * is as it was before. Nothing else of a key changes: one that has expired or has no uses left is switched on too, and is refused
   * until its expiry is put off, or it gets uses. (updateKey with `enabled: true` does more: it clears an expiry that has passed, and
   * refuses a key without uses.)
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
   * @example
   * const { enabledKeys } = await latchkey.enableKeys({ externalId: "user_1" });
   */
  enableKeys(input: KeysReference): Promise<EnabledKeys>;
  /**
   * Changes many keys as updateKey changes one: all of them in one atomic write, or none.
   *
   * @throws LatchkeyError as updateKey; an error that concerns one key says which by `details.keyId`. Nothing is written then.
   * @example
   * await latchkey.updateKeys({ keyIds: [keyId], expires: latchkey.now() + 30 * 86_400_000 });
   */
  updateKeys(input: UpdateKeysInput<Types>): Promise<Record<string, never>>;
}

/** Input of updateKeys: what is omitted stays, null clears. */
export type UpdateKeysInput<Types extends LatchkeyTypes = DefaultTypes> = Omit<
  UpdateKeyInput<Types>,
  "keyId"
> & {
  /** Ids of the keys: 1 to 100. One that is given twice counts once. */
  readonly keyIds: readonly string[];
};
