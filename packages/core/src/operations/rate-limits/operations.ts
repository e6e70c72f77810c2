import type { Duration } from "../../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import type { RatelimitState } from "../../verification/verdict.js";

/** Input of limit. */
export type LimitInput = {
  /** What is limited: 1 to 128 of `A-Z a-z 0-9 _ . : -`, `default` unless given. */
  readonly namespace?: string | undefined;
  /** Who is limited, such as a user or an address: 1 to 255 characters. */
  readonly identifier: string;
  /** Units in each window: whole and >= 1. */
  readonly limit: number;
  /** Length of a window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. Windows are aligned to the Unix epoch. */
  readonly duration: Duration;
  /** Units to take: whole and >= 0, 1 unless given; 0 only shows the window. */
  readonly cost?: number | undefined;
};

/**
 * Input of resetLimit: a limit of a key (`keyId` and `name`) or of an identity (`identityId` and `name`), or the one of a
 * namespace (`namespace`, `identifier` and `duration`).
 */
export type ResetLimitInput<Types extends LatchkeyTypes = DefaultTypes> = {
  /** Id of the key. */
  readonly keyId?: string | undefined;
  /** Id of the identity. */
  readonly identityId?: string | undefined;
  /** Name of the limit of the key or the identity: 1 to 128 characters. */
  readonly name?: LimitName<Types> | undefined;
  /** As in limit: 1 to 128 of `A-Z a-z 0-9 _ . : -`. */
  readonly namespace?: string | undefined;
  /** As in limit: 1 to 255 characters. */
  readonly identifier?: string | undefined;
  /**
   * Length of the window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. With `keyId` it names a limit that
   * requests make up; not with `identityId`.
   */
  readonly duration?: Duration | undefined;
};

/** Whether there was room, and the window as it stands afterwards. */
export interface LimitAnswer extends RatelimitState {
  /** False: nothing was taken. */
  readonly success: boolean;
}

/** Operations on rate limits. */
export interface LimitOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Takes from a rate limit that belongs to no key, in one atomic step: the same exact windows as those of keys. Namespace,
   * identifier and duration name a counter; the limit is that of the call, so a counter goes on where it changes. A limit that is
   * below what was taken already leaves 0, and refuses a cost of 0 too. It works in a disabled workspace, too.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { success, reset } = await latchkey.limit({
   *   namespace: "login",
   *   identifier: "192.0.2.7",
   *   limit: 5,
   *   duration: "1m",
   * });
   */
  limit(input: LimitInput): Promise<LimitAnswer>;
  /**
   * Empties a rate limit of a key, an identity or a namespace: its next use opens a new window. It also mends a window that a
   * wrong clock put into the future.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key or identity, `BAD_REQUEST` when that has no limit of
   * this name.
   * @example
   * await latchkey.resetLimit({ namespace: "login", identifier: "192.0.2.7", duration: "1m" });
   */
  resetLimit(input: ResetLimitInput<Types>): Promise<Record<string, never>>;
}
