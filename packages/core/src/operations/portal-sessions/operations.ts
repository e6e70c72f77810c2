import type { Duration } from "../../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import type { EpochMs } from "../../time.js";
import type { IdentityReference } from "../identities/reference.js";
import type { KeyReference, PageInput } from "../input.js";
import type { CreatedKey } from "../keys/operations.js";
import type { KeyView } from "../keys/view.js";
import type { NamedKeyLimitInput } from "../limit-input.js";
import type { PageInfo } from "../read.js";
import type { RepeatableAnswer, RepeatableInput } from "../repeats/repetition-input.js";
import type { Verifications } from "../statistics.js";

/** What a portal session allows. What you leave out is not allowed. */
export interface PortalAllow<Types extends LatchkeyTypes = DefaultTypes> {
  /** Ids of the APIs whose keys it shows and changes: 1 to 20. */
  readonly apiIds: readonly string[];
  /** Whether keys may be created, and named. */
  readonly create?: boolean | undefined;
  /** Whether keys may be rotated, unless they have permissions other than `permissions`. */
  readonly rotate?: boolean | undefined;
  /** Whether keys may be revoked, for good. */
  readonly revoke?: boolean | undefined;
  /** Names of the permissions that keys may be given. They must exist. */
  readonly permissions?: readonly PermissionName<Types>[] | undefined;
  /**
   * Most keys of the identity in all of `apiIds` together: 1 to 10,000. Rotated keys do not count, but at most as many may still work, and
   * as many dead ones are kept.
   */
  readonly maxKeys?: number | undefined;
  /** Limits of every key that it creates, like `ratelimits` of createKey. */
  readonly ratelimits?: readonly NamedKeyLimitInput<Types>[] | undefined;
  /** Whose uses the keys that it creates take: their own (default), or those that the keys of the identity share. */
  readonly usesFrom?: "key" | "identity" | undefined;
}

/** Input of createPortalSession. */
export interface PortalSessionInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Your own id of the keys' owner: 1 to 255 characters. A missing identity is created. */
  readonly externalId: string;
  /** How long it lasts: at most an hour. Default: 15 minutes. */
  readonly ttl?: Duration | undefined;
  /** What it allows. */
  readonly allow: PortalAllow<Types>;
  /**
   * Who acts in it, for the audit log, such as your own id of a customer's employee: 1 to 256 characters. Default: `portal session of
   * <identityId>`.
   */
  readonly actor?: string | undefined;
}

/** A new session. */
export interface CreatedPortalSession {
  /** `ps_…` */
  readonly sessionId: string;
  /** The secret, which is shown only once. */
  readonly secret: string;
  /** Unix epoch ms at which it ends. */
  readonly expires: EpochMs;
}

/** Fields of a key that its owner sees. */
export const OWN_KEY_FIELDS = [
  "id",
  "start",
  "apiId",
  "name",
  "createdAt",
  "lastUsedAt",
  "expires",
  "idleExpiresAt",
  "startsAt",
  "remaining",
  "enabled",
  "permissions",
  "rotatedFrom",
  "rotatedTo",
] as const satisfies readonly (keyof KeyView)[];

/** A key as its owner sees it, without what is only for the host, such as `meta`. */
export interface OwnKey extends Pick<KeyView, (typeof OWN_KEY_FIELDS)[number]> {
  /** Whether the session may rotate it. */
  readonly canRotate: boolean;
}

/** A page of keys. */
export interface OwnKeys extends PageInfo {
  /** In the order of their creation. */
  readonly keys: readonly OwnKey[];
}

/** The keys of one identity, within what a session allows. For a session, other keys do not exist. */
export interface PortalSession {
  /** `ps_…` */
  readonly sessionId: string;
  /** Id of the identity that owns the keys. */
  readonly identityId: string;
  /** Your own id of the user. */
  readonly externalId: string;
  /** Who acts in it, if the host said so. */
  readonly actor?: string;
  /** Unix epoch ms at which it ends. */
  readonly expires: EpochMs;
  /** What it allows. */
  readonly allow: {
    /** Whether keys may be created, and named. */
    readonly create: boolean;
    /** Whether keys may be rotated. */
    readonly rotate: boolean;
    /** Whether keys may be revoked. */
    readonly revoke: boolean;
    /** Permissions that keys may be given. */
    readonly permissions: readonly string[];
    /** Most keys; absent: any number. */
    readonly maxKeys?: number | undefined;
    /** Id and name of each API. */
    readonly apis: readonly {
      /** Id of the API. */
      readonly id: string;
      /** Name of the API. */
      readonly name: string;
    }[];
  };
  /**
   * A page of the keys of an API.
   *
   * @throws LatchkeyError `NOT_FOUND` for an API that the session does not have; `BAD_REQUEST`.
   * @example
   * const { keys } = await session.listMyKeys({ limit: 20 });
   */
  readonly listMyKeys: (
    input: PageInput & {
      /** Id of the API; optional if the session has only one. */
      readonly apiId?: string | undefined;
    },
  ) => Promise<OwnKeys>;
  /**
   * Creates a key.
   *
   * @throws LatchkeyError `FORBIDDEN` for what the session does not allow; otherwise like createKey.
   * @example
   * const { key } = await session.createMyKey({ name: "build server" });
   */
  readonly createMyKey: CreatesKey<{
    /** Id of the API; optional if the session has only one. */
    readonly apiId?: string | undefined;
    /** For people: 1 to 256 characters. */
    readonly name?: string | undefined;
    /** When it expires: Unix epoch ms or a `Date`, later than now. Default: as the API says. */
    readonly expires?: number | Date | undefined;
    /** Some of the permissions of the session. Default: all. */
    readonly permissions?: readonly string[] | undefined;
  }>;
  /**
   * Renames a key.
   *
   * @throws LatchkeyError `NOT_FOUND`, `FORBIDDEN`, `BAD_REQUEST`.
   * @example
   * await session.renameMyKey({ keyId, name: "deploys" });
   */
  readonly renameMyKey: (
    input: KeyReference & {
      /** 1 to 256 characters. */
      readonly name: string;
    },
  ) => Promise<Record<string, never>>;
  /**
   * Rotates a key like rotateKey; the new one has the limits of the session.
   *
   * @throws LatchkeyError `NOT_FOUND`, `FORBIDDEN`, `CONFLICT`; `PRECONDITION_FAILED`, also with `graceMs` while `maxKeys` rotated keys
   * still work; `BAD_REQUEST`.
   * @example
   * const { key } = await session.rotateMyKey({ keyId, graceMs: "1d" });
   */
  readonly rotateMyKey: CreatesKey<
    KeyReference & {
      /** How long the old secret stays valid: ms, or a text such as `"1d"`, at most 7 days. Default: 0. */
      readonly graceMs?: Duration | undefined;
    }
  >;
  /**
   * Deletes a key for good.
   *
   * @throws LatchkeyError `NOT_FOUND`, `FORBIDDEN`.
   * @example
   * await session.revokeMyKey({ keyId });
   */
  readonly revokeMyKey: (input: KeyReference) => Promise<Record<string, never>>;
  /**
   * How often a key was verified on each day of UTC, today included.
   *
   * @throws LatchkeyError `NOT_FOUND`, `BAD_REQUEST`.
   * @example
   * const { verifications } = await session.usageOfMyKey({ keyId, days: 7 });
   */
  readonly usageOfMyKey: (
    input: KeyReference & {
      /** 1 to 366. Default: 30. */
      readonly days?: number | undefined;
    },
  ) => Promise<Verifications>;
}

/** A call of a session that creates a key. With an `idempotencyKey`, a repeat in any session of the same identity creates nothing. */
export interface CreatesKey<Input> {
  (input: Input & Required<RepeatableInput>): Promise<RepeatableAnswer<CreatedKey>>;
  (input: Input & RepeatableInput): Promise<CreatedKey>;
}

/** Operations on portal sessions, in which customers manage their own keys. */
export interface PortalOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates a short session for the owner of keys, bound to one identity. Only a digest of its secret is stored.
   *
   * @throws LatchkeyError `NOT_FOUND` for an unknown API, `PRECONDITION_FAILED` naming the missing permissions, `BAD_REQUEST`.
   * @example
   * const allow = { apiIds: [apiId], create: true, rotate: true, revoke: true, maxKeys: 5 };
   * const { secret } = await latchkey.createPortalSession({ externalId: "user_1", ttl: "15m", allow });
   */
  createPortalSession(input: PortalSessionInput<Types>): Promise<CreatedPortalSession>;
  /**
   * Ends one session, or all of an identity. Once this has resolved, no call of such a session that starts later succeeds. Deleting or
   * erasing an identity ends its sessions too.
   *
   * @param input - Exactly one of `sessionId`, `identityId` and `externalId`.
   * @throws LatchkeyError `NOT_FOUND`, `BAD_REQUEST`.
   * @example
   * await latchkey.revokePortalSession({ externalId: "user_1" });
   */
  revokePortalSession(
    input: IdentityReference & {
      /** Id of the session. */
      readonly sessionId?: string | undefined;
    },
  ): Promise<{
    /** How many sessions were deleted, including ended ones. */
    readonly revokedSessions: number;
  }>;
  /**
   * Opens a session by its secret. What it writes is in the audit log with the `actor` of the session.
   *
   * @returns Null if no open session of this workspace has this secret.
   * @throws LatchkeyError `FORBIDDEN` while the workspace is disabled, also from calls of the session.
   * @example
   * const session = await latchkey.openPortalSession(secret);
   * const page = await session?.listMyKeys({});
   */
  openPortalSession(secret: string): Promise<PortalSession | null>;
}
