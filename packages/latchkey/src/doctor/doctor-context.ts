import type { KeyStore, Latchkey } from "@latchkey/core";

/** What a doctor looks at: one workspace of a store. */
export interface DoctorContext {
  readonly latchkey: Latchkey;
  readonly store: KeyStore;
  /** Whether what can be mended is mended. */
  readonly fix: boolean;
}
