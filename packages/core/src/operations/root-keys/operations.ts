import type { RootKeyOutcome } from "./authenticate-root-key.js";
import type { CreatedRootKey, CreateRootKeyInput } from "./create-root-key.js";
import type { ListRootKeysInput, RootKeyList } from "./list-root-keys.js";
import type { RevokeRootKeyInput } from "./revoke-root-key.js";

/** Operations on root keys, which authorise management over HTTP. */
export interface RootKeyOperations {
  /**
   * Creates a key that authorises management calls in this workspace.
   *
   * @returns The secret, which is shown this once, and the id of the root key.
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["api.*.create_key"] });
   */
  createRootKey(input: CreateRootKeyInput): Promise<CreatedRootKey>;
  /**
   * Lists the root keys of the workspace without their secrets, a page at a time; `rootKeys()` of a latchkey goes through all of
   * them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { rootKeys, total, cursor } = await latchkey.listRootKeys({ limit: 20 });
   */
  listRootKeys(input?: ListRootKeysInput): Promise<RootKeyList>;
  /**
   * Revokes a root key for good: it authorises no call that starts after this has resolved, in no process. A root key whose
   * record cannot be read is revoked all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such root key.
   * @example
   * await latchkey.revokeRootKey({ rootKeyId });
   */
  revokeRootKey(input: RevokeRootKeyInput): Promise<Record<string, never>>;
  /**
   * Finds out whom a token speaks for. Root keys of every workspace are recognised: the token says which workspace it belongs
   * to. Keys of APIs are not root keys, whatever their permissions.
   *
   * @param token - The presented root key.
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * const outcome = await latchkey.authenticateRootKey("lk_root_…");
   */
  authenticateRootKey(token: string): Promise<RootKeyOutcome>;
}
