import type { LeakPolicy } from "../../rules/keys/leak.js";
import type { KeyView } from "../keys/view.js";

/** What was done about a key that leaked. */
export type LeakAction = "disabled" | "reported" | "deleted" | "rotated";

/** A secret that was found where it does not belong. */
export interface Leak {
  /** The secret, or what looks like one: any text. */
  readonly key: string;
  /** Where it was found: a text of up to 2,048 characters. */
  readonly url?: string | undefined;
  /** What it was found in, such as `commit`: a text of up to 256 characters. */
  readonly source?: string | undefined;
}

/** A key or a root key that leaked. Exactly one of the ids is there. */
export interface LeakedKey {
  /** Id of the key. */
  readonly keyId?: string;
  /** Id of the root key, which may be of any workspace. */
  readonly rootKeyId?: string;
  /** What was done. `disabled` also for one that was disabled before, and where the policy could not be carried out. */
  readonly action: LeakAction;
  /** Whether this very report was handled before: then nothing was done now. */
  readonly isRepeat: boolean;
}

/** What reportLeaks found. */
export interface ReportedLeaks {
  /** In the order of the input; null: not a secret of a key here. */
  readonly leaks: readonly (LeakedKey | null)[];
}

/** What reportLeaks is told within this process alone. */
export interface LeakScope {
  /** Decides about each key, in the place of `policy`. It is not asked about root keys, and about keys that cannot be read. */
  readonly decide?: (key: KeyView) => LeakPolicy | Promise<LeakPolicy>;
}

/** Operations on secrets that were found where they do not belong. */
export interface LeakOperations {
  /**
   * Revokes keys whose secrets leaked: disables them, unless told otherwise. Nothing counts as a verification. Each report leaves
   * an entry in the audit log that says where the secret was found, and never the secret. The same report again changes nothing.
   *
   * A secret is that of a key of this workspace, whatever the state of the key, or that of a root key of any workspace. `rotate`
   * gives a recoverable key a successor, whose secret its owner fetches; other keys are disabled, and root keys too. `delete`
   * disables where there is no audit log: that is what remembers what was deleted.
   *
   * @param scope - For hosts that decide about each key.
   * @throws LatchkeyError `STORE_UNAVAILABLE`: some may have been handled, and the repeat goes on.
   * @example
   * const { leaks } = await latchkey.reportLeaks({ leaks: [{ key, url: "https://example.com/diff" }] });
   */
  reportLeaks(
    input: {
      /** At most 100. */
      readonly leaks: readonly Leak[];
      /** `disable` unless given. */
      readonly policy?: LeakPolicy | undefined;
    },
    scope?: LeakScope,
  ): Promise<ReportedLeaks>;
}
