import type { LeakPolicy } from "../../rules/keys/leak.js";
import type { KeyView } from "../keys/view.js";

/** What was done with a leaked key. */
export type LeakAction = "disabled" | "reported" | "deleted" | "rotated";

/** A secret that may have leaked. */
export interface Leak {
  /** The secret, or what looks like one: any text. */
  readonly key: string;
  /** Where it was found: a text of up to 2,048 characters. */
  readonly url?: string | undefined;
  /** What it was found in, such as `commit`: a text of up to 256 characters. */
  readonly source?: string | undefined;
}

/** A leaked key or root key: it has exactly one of the ids. */
export interface LeakedKey {
  /** Id of the key. */
  readonly keyId?: string;
  /** Id of the root key, which may be of any workspace. */
  readonly rootKeyId?: string;
  /** What was done. Also `disabled` if it was disabled before, or if the policy could not be applied. */
  readonly action: LeakAction;
  /** Whether this report was handled before: then nothing was done now. */
  readonly isRepeat: boolean;
}

/** What reportLeaks found. */
export interface ReportedLeaks {
  /** In the order of the input; null: not a secret of a key here. */
  readonly leaks: readonly (LeakedKey | null)[];
}

/** Options of reportLeaks that HTTP does not have. */
export interface LeakScope {
  /** Decides about each key, instead of `policy`. Not called for root keys and damaged keys. */
  readonly decide?: (key: KeyView) => LeakPolicy | Promise<LeakPolicy>;
}

/** Operations on leaked secrets. */
export interface LeakOperations {
  /**
   * Revokes keys whose secrets leaked: disables them, or does what `policy` says. This does not count as a verification. Each report leaves
   * an audit entry that says where the secret was found, but never the secret. The same report again changes nothing.
   *
   * Finds keys of this workspace in any state, and root keys of any workspace. `rotate` gives a recoverable key a successor, whose secret
   * its owner can fetch; other keys and root keys are disabled. `delete` needs the audit log, which remembers deleted keys; without it,
   * keys are disabled.
   *
   * @param scope - For hosts that decide about each key.
   * @throws LatchkeyError `STORE_UNAVAILABLE`: some may have been handled; call it again.
   * @example
   * const { leaks } = await latchkey.reportLeaks({ leaks: [{ key, url: "https://example.com/diff" }] });
   */
  reportLeaks(
    input: {
      /** At most 100. */
      readonly leaks: readonly Leak[];
      /** Default: `disable`. */
      readonly policy?: LeakPolicy | undefined;
    },
    scope?: LeakScope,
  ): Promise<ReportedLeaks>;
}
