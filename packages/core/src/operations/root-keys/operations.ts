import type { Duration } from "../../rules/duration.js";
import type { EpochMs } from "../../time.js";
import type { PageInput } from "../input.js";
import type { PageInfo } from "../read.js";

/** A root key. */
export type RootKeyReference = {
  /** Id of the root key: `root_…` */
  readonly rootKeyId: string;
};

/** A root key that was created. */
export interface CreatedRootKey extends RootKeyReference {
  /** The secret, which is shown only once. */
  readonly key: string;
}

/** A root key, without its secret. Fields without a value are absent. */
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

/** A page of root keys. */
export interface RootKeyList extends PageInfo {
  /** In the order of their creation. */
  readonly rootKeys: readonly RootKeyView[];
  /** Exact number of root keys of the workspace, expired ones included. */
  readonly total: number;
}

/** Result of authenticateRootKey. */
export type RootKeyOutcome =
  | {
      /** A valid root key. */
      readonly kind: "authenticated";
      /** `root_…` */
      readonly rootKeyId: string;
      /** The workspace that it may manage. */
      readonly workspaceId: string;
      /** What it authorises. */
      readonly permissions: readonly string[];
    }
  | {
      /** Malformed, unknown, expired or disabled: the result does not say which. */
      readonly kind: "refused";
    }
  | {
      /** A valid root key of a disabled workspace. */
      readonly kind: "workspace-disabled";
    };

/** For hosts that authorise callers themselves. */
export interface RootKeyScope {
  /**
   * The caller, who can give no permission that it does not have itself, and no later expiry than its own. For a root key, this is checked
   * in the commit. Default: the host itself, without bounds.
   */
  readonly by?:
    | {
        /** Id of the root key that calls. */
        readonly rootKeyId: string;
      }
    | {
        /** Permissions of a caller that is not a root key. */
        readonly permissions: readonly string[];
      }
    | undefined;
}

/** Operations on root keys, which authorise management over HTTP. */
export interface RootKeyOperations {
  /**
   * Creates a key that authorises management calls in this workspace.
   *
   * @returns The secret, which is shown only once, and the id of the root key.
   * @throws LatchkeyError `BAD_REQUEST`, `INSUFFICIENT_PERMISSIONS` for more than the caller in `scope` has.
   * @example
   * const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["api.*.create_key"] });
   */
  createRootKey(
    input: {
      /** What it authorises, such as `api.*.create_key`: 1 to 1,000. */
      readonly permissions: readonly string[];
      /** For people: 1 to 256 characters. */
      readonly name?: string | undefined;
      /** When it expires: Unix epoch ms or a `Date`, later than now. Default: never. */
      readonly expires?: number | Date | undefined;
    },
    scope?: RootKeyScope,
  ): Promise<CreatedRootKey>;
  /**
   * Lists the root keys of the workspace without their secrets, a page at a time; `rootKeys()` iterates over all of them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { rootKeys, total, cursor } = await latchkey.listRootKeys({ limit: 20 });
   */
  listRootKeys(input?: PageInput): Promise<RootKeyList>;
  /**
   * Changes the name, the permissions or the expiry of a root key, for every call that starts after this has resolved. Omitted fields stay.
   *
   * @throws LatchkeyError `NOT_FOUND`, `BAD_REQUEST`, `PRECONDITION_FAILED` for a later expiry of a rotated root key,
   * `INSUFFICIENT_PERMISSIONS` if the root key has, or would get, more than the caller in `scope`.
   * @example
   * await latchkey.updateRootKey({ rootKeyId, permissions: ["api.*.read_key"] });
   */
  updateRootKey(
    input: RootKeyReference & {
      /** For people: 1 to 256 characters; null for none. */
      readonly name?: string | null | undefined;
      /** All that it authorises from now on: 1 to 1,000. */
      readonly permissions?: readonly string[] | undefined;
      /** When it expires: Unix epoch ms or a `Date`, later than now; null for never. */
      readonly expires?: number | Date | null | undefined;
    },
    scope?: RootKeyScope,
  ): Promise<Record<string, never>>;
  /**
   * Replaces a root key by one with a new secret and id that authorises the same. The old one expires at once or after `graceMs`, but no
   * later than before. A root key has one successor; that of a disabled one is disabled.
   *
   * @returns The secret, which is shown only once, and the id of the new root key.
   * @throws LatchkeyError `NOT_FOUND`, `CONFLICT` if it was rotated before, `PRECONDITION_FAILED` if it has expired, `BAD_REQUEST`,
   * `INSUFFICIENT_PERMISSIONS` if it has more than the caller in `scope`.
   * @example
   * const { rootKeyId: nextId, key } = await latchkey.rotateRootKey({ rootKeyId, graceMs: "1h" });
   */
  rotateRootKey(
    input: RootKeyReference & {
      /** How long the old secret stays valid: ms, or a text such as `"1h"`, at most a year. Default: 0. */
      readonly graceMs?: Duration | undefined;
    },
    scope?: RootKeyScope,
  ): Promise<CreatedRootKey>;
  /**
   * Revokes a root key for good: it authorises no call that starts after this has resolved, in any process. A damaged root key is revoked
   * too.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * await latchkey.revokeRootKey({ rootKeyId });
   */
  revokeRootKey(input: RootKeyReference): Promise<Record<string, never>>;
  /**
   * Recognises a root key of any workspace. Keys of APIs are not root keys, whatever their permissions.
   *
   * @param token - The presented root key.
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * const outcome = await latchkey.authenticateRootKey("lk_root_…");
   */
  authenticateRootKey(token: string): Promise<RootKeyOutcome>;
}
