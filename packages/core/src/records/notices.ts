import type { EpochMs } from "../time.js";
import { defineRecord, type Expiry, type RecordHead } from "./record-type.js";

/** What is noticed about an expiry: it has come, or it comes soon. In the order of their ids. */
export const DEADLINE_STAGES = ["ended", "soon"] as const;

export type DeadlineStage = (typeof DEADLINE_STAGES)[number];

/**
 * A pending notice of the expiry of a key. A key that is written with `expires` has one, first at the stage `soon`, then at `ended`. It is
 * deleted once `ended` was noticed, and with the key. Its id holds all of it, so that due deadlines come first in their list.
 *
 * @see packages/core/decisions/0047-expiries-are-noticed-in-their-order.md
 */
export interface Deadline extends Expiry, RecordHead {
  readonly stage: DeadlineStage;
}

/** Digits of the last instant of a `Date`. */
const INSTANT_WIDTH = 16;

export const DEADLINE_ID = /^([es])(\d{16})\.(.+)$/;

const LETTERS: { readonly [Stage in DeadlineStage]: string } = { ended: "e", soon: "s" };

/** A text that sorts below the ids of all deadlines of a stage. */
export function startOfStage(stage: DeadlineStage): string {
  return LETTERS[stage];
}

export function deadlineOf(
  stage: DeadlineStage,
  { keyId, at }: Expiry,
  workspaceId: string,
): Deadline {
  const id = `${LETTERS[stage]}${String(at).padStart(INSTANT_WIDTH, "0")}.${keyId}`;
  return { id, workspaceId, stage, keyId, at };
}

/** Reads the deadline in an id, even the id of a damaged record; null if it is not the id of a deadline. */
export function readDeadline(id: string, workspaceId: string): Deadline | null {
  const [, letter, at, keyId] = DEADLINE_ID.exec(id) ?? [];
  if (keyId === undefined) return null;
  const stage = letter === LETTERS.soon ? "soon" : "ended";
  return { id, workspaceId, stage, keyId, at: Number(at) as EpochMs };
}

/** Deadlines: found by their ids alone. */
export const deadlineType = defineRecord<Deadline>({
  kind: "deadline",
  write: () => ({}),
  read: (_body, { id, workspaceId }) => {
    const deadline = readDeadline(id, workspaceId);
    if (deadline === null) throw new TypeError("the id is not that of a deadline");
    return deadline;
  },
});

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
