import type { KeyStore, Latchkey } from "@latchkey/core";
import type { KeyRings } from "../key-rings-from-env.js";

/** What a doctor looks at: one workspace of a store. */
export interface DoctorContext {
  readonly latchkey: Latchkey;
  readonly store: KeyStore;
  /** Whether what can be mended is mended. */
  readonly fix: boolean;
  /** The key rings of the environment. */
  readonly rings: KeyRings;
}
