import type { EpochMs } from "../time.js";
import { defineRecord, type RecordHead } from "./record-type.js";

/**
 * Says that something about uses or a limit was noticed, for as long as it could be noticed again. Its id holds all of it: of two processes
 * that write it, only one succeeds, and records that are over come first in their list.
 */
export type Noticed = RecordHead;

/** `digest`: a digest of what was noticed; another period has another digest. */
export function noticedId(until: EpochMs, digest: string): string {
  return `${startOfNoticed(until)}${digest}`;
}

/** A text that sorts above the ids of all records that are over before an instant, and below all others. */
export function startOfNoticed(until: EpochMs): string {
  return `${String(until).padStart(16, "0")}.`;
}

/** Records of what was noticed: found by id alone. */
export const noticedType = defineRecord<Noticed>({
  kind: "noticed",
  write: () => ({}),
  read: (_body, { id, workspaceId }) => ({ id, workspaceId }),
});
