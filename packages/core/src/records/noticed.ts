import type { EpochMs } from "../time.js";
import { defineRecord, type RecordHead } from "./record-type.js";

/**
 * That something was noticed of uses or of a limit, for as long as it could be noticed again. All of it is in its id, so that of two that write
 * it one does, and those that are over come first in their list.
 */
export type Noticed = RecordHead;

/** `digest`: of what was noticed: another one for another period. */
export function noticedId(until: EpochMs, digest: string): string {
  return `${startOfNoticed(until)}${digest}`;
}

/** Above the ids of all that is over before an instant, and below all others. */
export function startOfNoticed(until: EpochMs): string {
  return `${String(until).padStart(16, "0")}.`;
}

/** What was noticed: found by its id alone. */
export const noticedType = defineRecord<Noticed>({
  kind: "noticed",
  write: () => ({}),
  read: (_body, { id, workspaceId }) => ({ id, workspaceId }),
});
