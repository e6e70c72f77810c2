import type { KeyStore, Latchkey } from "@latchkey/core";
import type { KeyRings } from "../key-rings-from-env.js";

/** What the checks work on: one workspace of a store. */
export interface DoctorContext {
  readonly latchkey: Latchkey;
  readonly store: KeyStore;
  /** Whether to repair what can be repaired. */
  readonly fix: boolean;
  /** The key rings of the environment. */
  readonly rings: KeyRings;
  /** Gets what was looked at so far, after each page of keys and identities. */
  readonly onProgress?: (looked: () => string) => void;
}
