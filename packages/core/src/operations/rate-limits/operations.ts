import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { LimitAnswer, LimitInput } from "./limit.js";
import type { ResetLimitInput } from "./reset-limit.js";

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
