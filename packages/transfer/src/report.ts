import { LatchkeyError } from "@latchkey/core";
import type { Counts } from "./counts.js";
import type { PassResult } from "./passes/reconcile.js";

/** What a transfer came to. */
export interface TransferReport {
  readonly workspaces: readonly string[];
  readonly counts: Counts;
  /**
   * Of everything, the same for source and target: SHA-256 in hexadecimal. Null after a live copy, whose sides were never at rest:
   * they were compared record by record.
   */
  readonly digest: string | null;
  /** Of a live copy: true where an earlier call had moved everything, so that this one did nothing. The target serves. */
  readonly wasComplete?: true;
  /** Of a live copy: how long nobody could use the keys, in ms, and how many records were written meanwhile. */
  readonly fence?: { readonly ms: number; readonly records: number };
}

/** What a pass without differences proves. */
export function reportOf(
  workspaces: readonly string[],
  { counts, digests }: PassResult,
): TransferReport {
  const digest = digests.source.toString();
  if (digest !== digests.target.toString())
    throw new LatchkeyError("INTERNAL_SERVER_ERROR", "the two sides differ, and no record does");
  return { workspaces, counts, digest };
}
