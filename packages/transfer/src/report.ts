import { LatchkeyError } from "@latchkey/core";
import type { Counts } from "./counts.js";
import type { PassResult } from "./passes/reconcile.js";

/** The result of a transfer. */
export interface TransferReport {
  readonly workspaces: readonly string[];
  readonly counts: Counts;
  /**
   * SHA-256 of everything, in hexadecimal, the same for source and target. Null after a live copy, which compares record by record
   * because both sides keep changing.
   */
  readonly digest: string | null;
  /** Of a live copy: true if an earlier call finished it, so this one did nothing. The target serves. */
  readonly wasComplete?: true;
  /** Of a live copy: for how many ms nobody could use the keys, and how many records were written in that time. */
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
