import type { Duration } from "../../rules/duration.js";
import type { EpochMs } from "../../time.js";
import type { PageInput } from "../input.js";
import type { PageInfo } from "../read.js";
import type { RootKeyOutcome } from "./authenticate-root-key.js";

/** A root key that was created. */
export interface CreatedRootKey {
  /** `root_…` */
  readonly rootKeyId: string;
  /** The secret, which is shown this once. */
  readonly key: string;
}

/** A root key as it is listed. Fields without a value are absent; its secret is nowhere. */
export interface RootKeyView {
  /** `root_…` */
  readonly id: string;
  /** Leading characters of the secret. */
  readonly start: string;
  /** For people. */
  readonly name?: string;
  /** What it authorises. */
  readonly permissions: readonly string[];
  /** Unix epoch ms; absent: never. */
  readonly expires?: EpochMs;
  /** False once it has expired. */
  readonly enabled: boolean;
  /** The root key that it was rotated to; absent: none. */
  readonly rotatedTo?: string;
  /** Unix epoch ms. */
  readonly createdAt: EpochMs;
}

/** A page of root keys in the order of their creation; without `cursor` it is the last one. */
export interface RootKeyList extends PageInfo {
  /** In the order of their creation. */
  readonly rootKeys: readonly RootKeyView[];
  /** Exact number of root keys of the workspace, expired ones included. */
  readonly total: number;
}

/** Who creates or changes a root key, for hosts that authorise callers themselves. */
export interface RootKeyScope {
  /**
   * Nobody's root key gets a permission that this caller does not hold, and none that it makes or puts off expires later than it does.
   * A root key is named by its id: what it holds is read in the commit. The host itself, without bounds, unless given.
   */
  readonly by?:
    | {
        /** Id of the root key that calls. */
        readonly rootKeyId: string;
      }
    | {
        /** What a caller holds that is no root key. */
        readonly permissions: readonly string[];
      }
    | undefined;
}

/** Operations on root keys, which authorise management over HTTP. */
export interface RootKeyOperations {
  /**
   * Creates a key that authorises management calls in this workspace.
   *
   * @param scope - For hosts that authorise callers themselves.
   * @returns The secret, which is shown this once, and the id of the root key.
   * @throws LatchkeyError `BAD_REQUEST`, `INSUFFICIENT_PERMISSIONS` for what is above the caller of `scope`.
   * @example
   * const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["api.*.create_key"] });
   */
  createRootKey(
    input: {
      /** What it authorises, such as `api.*.create_key`: 1 to 1,000. */
      readonly permissions: readonly string[];
      /** For people: 1 to 256 characters. */
      readonly name?: string | undefined;
      /** Unix epoch ms or a `Date`, later than now; never unless given. */
      readonly expires?: number | Date | undefined;
    },
    scope?: RootKeyScope,
  ): Promise<CreatedRootKey>;
  /**
   * Lists the root keys of the workspace without their secrets, a page at a time; `rootKeys()` of a latchkey goes through all of
   * them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { rootKeys, total, cursor } = await latchkey.listRootKeys({ limit: 20 });
   */
  listRootKeys(input?: PageInput): Promise<RootKeyList>;
  /**
   * Changes a root key: its name, what it authorises, when it expires. Fields that are left out stay. Seen by every call that starts after
   * this has resolved.
   *
   * @param scope - For hosts that authorise callers themselves.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such root key, `BAD_REQUEST`, `PRECONDITION_FAILED` for a later expiry
   * of one that was rotated, `INSUFFICIENT_PERMISSIONS` for what is above the caller of `scope`, as the root key is or is to be.
   * @example
   * await latchkey.updateRootKey({ rootKeyId, permissions: ["api.*.read_key"] });
   */
  updateRootKey(
    input: {
      /** Id of the root key. */
      readonly rootKeyId: string;
      /** For people: 1 to 256 characters; null for none. */
      readonly name?: string | null | undefined;
      /** What it authorises from now on, and nothing else: 1 to 1,000. */
      readonly permissions?: readonly string[] | undefined;
      /** Unix epoch ms or a `Date`, later than now; null for never. */
      readonly expires?: number | Date | null | undefined;
    },
    scope?: RootKeyScope,
  ): Promise<Record<string, never>>;
  /**
   * Makes a root key with another secret and another id that authorises the same, and lets the old one die: at once, or after `graceMs`,
   * never later than it would have. A root key has one successor, which is disabled where it is.
   *
   * @param scope - For hosts that authorise callers themselves.
   * @returns The secret, which is shown this once, and the id of the new root key.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such root key, `CONFLICT` when it was rotated before,
   * `PRECONDITION_FAILED` when it has expired, `BAD_REQUEST`, `INSUFFICIENT_PERMISSIONS` for one above the caller of `scope`.
   * @example
   * const { rootKeyId: nextId, key } = await latchkey.rotateRootKey({ rootKeyId, graceMs: "1h" });
   */
  rotateRootKey(
    input: {
      /** Id of the root key. */
      readonly rootKeyId: string;
      /** For how long the old one goes on: ms, or a text such as `"1h"`; at most a year, 0 unless given. */
      readonly graceMs?: Duration | undefined;
    },
    scope?: RootKeyScope,
  ): Promise<CreatedRootKey>;
  /**
   * Revokes a root key for good: it authorises no call that starts after this has resolved, in no process. A root key whose
   * record cannot be read is revoked all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such root key.
   * @example
   * await latchkey.revokeRootKey({ rootKeyId });
   */
  revokeRootKey(input: {
    /** Id of the root key. */
    readonly rootKeyId: string;
  }): Promise<Record<string, never>>;
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
