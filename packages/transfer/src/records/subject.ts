import { type RecordAddress, type StatisticsSubject, SUBJECT_CODE } from "@latchkey/core";

/** The subject under which verifications are counted for a record; null for none. */
export function subjectOf({ kind, id }: RecordAddress): StatisticsSubject | null {
  return kind in SUBJECT_CODE ? { kind: kind as StatisticsSubject["kind"], id } : null;
}
