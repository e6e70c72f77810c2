import type { Duration } from "../../rules/duration.js";
import type { EpochMs } from "../../time.js";
import type { IdentityReference } from "../identities/reference.js";
import type { CreatedKey } from "../keys/operations.js";
import type { KeyView } from "../keys/view.js";
import type { NamedKeyLimitInput } from "../limit-input.js";
import type { PageInfo } from "../read.js";
import type { Verifications } from "../statistics/verifications.js";

/** What a portal session allows. All that is left out is not allowed. */
export interface PortalAllow {
  /** Ids of the APIs whose keys it shows and touches: 1 to 20. */
  readonly apiIds: readonly string[];
  /** Whether keys may be created, and named. */
  readonly create?: boolean | undefined;
  /** Whether keys may be rotated: those that hold no permission beside `permissions`. */
  readonly rotate?: boolean | undefined;
  /** Whether keys may be revoked, for good. */
  readonly revoke?: boolean | undefined;
  /** Names of the permissions that a key may be given: they must exist. */
  readonly permissions?: readonly string[] | undefined;
  /**
   * Most keys of the identity in all of `apiIds` together: 1 to 10,000. Keys that were rotated are not among them; as many of these may
   * still work, in their grace.
   */
  readonly maxKeys?: number | undefined;
  /** Limits that every key made with it has, as `ratelimits` of createKey. */
  readonly ratelimits?: readonly NamedKeyLimitInput[] | undefined;
}

/** What a session is made of. */
export interface PortalSessionInput {
  /** Your own id of the user whose keys they are: 1 to 255 characters. An identity that does not exist is created. */
  readonly externalId: string;
  /** How long it lasts: at most an hour, 15 minutes unless given. */
  readonly ttl?: Duration | undefined;
  /** What it allows. */
  readonly allow: PortalAllow;
}

/** A session that was created. */
export interface CreatedPortalSession {
  /** `ps_…` */
  readonly sessionId: string;
  /** The secret, which is shown this once. */
  readonly secret: string;
  /** Unix epoch ms from which on it is over. */
  readonly expires: EpochMs;
}

/** A key as its owner sees it: what is for the host alone, such as `meta`, is left out. */
export interface OwnKey
  extends Pick<
    KeyView,
    | "id"
    | "start"
    | "apiId"
    | "name"
    | "createdAt"
    | "lastUsedAt"
    | "expires"
    | "idleExpiresAt"
    | "startsAt"
    | "remaining"
    | "enabled"
    | "permissions"
    | "rotatedFrom"
    | "rotatedTo"
  > {
  /** Whether the session may rotate it: not one that holds more than the session may give. */
  readonly canRotate: boolean;
}

/** A page of keys in the order of their creation. */
export interface OwnKeys extends PageInfo {
  /** In the order of their creation. */
  readonly keys: readonly OwnKey[];
}

/** Keys of one identity, within what a session allows. A key of anybody else is answered as one that does not exist. */
export interface PortalSession {
  /** `ps_…` */
  readonly sessionId: string;
  /** Whose keys: id of the identity. */
  readonly identityId: string;
  /** Your own id of the user. */
  readonly externalId: string;
  /** Unix epoch ms from which on it is over. */
  readonly expires: EpochMs;
  /** What it allows. */
  readonly allow: {
    /** Whether keys may be created, and named. */
    readonly create: boolean;
    /** Whether keys may be rotated. */
    readonly rotate: boolean;
    /** Whether keys may be revoked. */
    readonly revoke: boolean;
    /** What keys may be given. */
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
   * @throws LatchkeyError `NOT_FOUND` for an API beside those of the session; `BAD_REQUEST`.
   * @example
   * const { keys } = await session.listMyKeys({ limit: 20 });
   */
  readonly listMyKeys: (input: {
    /** Id of the API; it may be left out where the session has one. */
    readonly apiId?: string | undefined;
    /** Keys of a page: 1 to 100. */
    readonly limit?: number | undefined;
    /** As the page before answered it. */
    readonly cursor?: string | undefined;
  }) => Promise<OwnKeys>;
  /**
   * Creates a key.
   *
   * @throws LatchkeyError `FORBIDDEN` for what the session does not allow; as createKey.
   * @example
   * const { key } = await session.createMyKey({ name: "build server" });
   */
  readonly createMyKey: (input: {
    /** Id of the API; it may be left out where the session has one. */
    readonly apiId?: string | undefined;
    /** For people: 1 to 256 characters. */
    readonly name?: string | undefined;
    /** Unix epoch ms or a `Date`, later than now; as the API says unless given. */
    readonly expires?: number | Date | undefined;
    /** Some of the permissions of the session; all of them unless given. */
    readonly permissions?: readonly string[] | undefined;
  }) => Promise<CreatedKey>;
  /**
   * Names a key.
   *
   * @throws LatchkeyError `NOT_FOUND`, `FORBIDDEN`, `BAD_REQUEST`.
   * @example
   * await session.renameMyKey({ keyId, name: "deploys" });
   */
  readonly renameMyKey: (input: {
    /** Id of the key. */
    readonly keyId: string;
    /** 1 to 256 characters. */
    readonly name: string;
  }) => Promise<Record<string, never>>;
  /**
   * Rotates a key, as rotateKey; the new one has the limits of the session.
   *
   * @throws LatchkeyError `NOT_FOUND`, `FORBIDDEN`, `CONFLICT`; `PRECONDITION_FAILED` also with a grace while as many rotated keys as
   * `maxKeys` still work; `BAD_REQUEST`.
   * @example
   * const { key } = await session.rotateMyKey({ keyId, graceMs: "1d" });
   */
  readonly rotateMyKey: (input: {
    /** Id of the key. */
    readonly keyId: string;
    /** For how long the old one goes on: ms, or a text such as `"1d"`, at most 7 days; 0 unless given. */
    readonly graceMs?: Duration | undefined;
  }) => Promise<CreatedKey>;
  /**
   * Deletes a key for good.
   *
   * @throws LatchkeyError `NOT_FOUND`, `FORBIDDEN`.
   * @example
   * await session.revokeMyKey({ keyId });
   */
  readonly revokeMyKey: (input: {
    /** Id of the key. */
    readonly keyId: string;
  }) => Promise<Record<string, never>>;
  /**
   * How often a key was verified on each day of UTC, today included.
   *
   * @throws LatchkeyError `NOT_FOUND`, `BAD_REQUEST`.
   * @example
   * const { verifications } = await session.usageOfMyKey({ keyId, days: 7 });
   */
  readonly usageOfMyKey: (input: {
    /** Id of the key. */
    readonly keyId: string;
    /** 1 to 366; 30 unless given. */
    readonly days?: number | undefined;
  }) => Promise<Verifications>;
}

/** Operations on sessions of a portal, in which customers manage keys of their own. */
export interface PortalOperations {
  /**
   * Creates a short session for the owner of keys, bound to one identity. Its secret is stored nowhere: the store has a digest.
   *
   * @throws LatchkeyError `NOT_FOUND` where one of the APIs does not exist, `PRECONDITION_FAILED` naming permissions that do not,
   * `BAD_REQUEST`.
   * @example
   * const allow = { apiIds: [apiId], create: true, rotate: true, revoke: true, maxKeys: 5 };
   * const { secret } = await latchkey.createPortalSession({ externalId: "user_1", ttl: "15m", allow });
   */
  createPortalSession(input: PortalSessionInput): Promise<CreatedPortalSession>;
  /**
   * Ends one session, or all of an identity. No call of them that starts after this has resolved does anything. Sessions of an identity
   * that is deleted or erased are over without it.
   *
   * @param input - Exactly one of `sessionId`, `identityId` and `externalId`.
   * @throws LatchkeyError `NOT_FOUND` where there is no such session, or no identity of the `externalId`; `BAD_REQUEST`.
   * @example
   * await latchkey.revokePortalSession({ externalId: "user_1" });
   */
  revokePortalSession(
    input: IdentityReference & {
      /** Id of the session. */
      readonly sessionId?: string | undefined;
    },
  ): Promise<{
    /** How many there were, ended ones included. */
    readonly revokedSessions: number;
  }>;
  /**
   * What the holder of a secret may do. What it writes is in the audit log with the actor `portal session of <identityId>`.
   *
   * @returns Null where the secret is of no session of this workspace, or of one that is over.
   * @throws LatchkeyError `FORBIDDEN` where the workspace is disabled.
   * @example
   * const session = await latchkey.openPortalSession(secret);
   * const page = await session?.listMyKeys({});
   */
  openPortalSession(secret: string): Promise<PortalSession | null>;
}
