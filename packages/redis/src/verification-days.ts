import {
  COUNTED_CODES,
  COUNTER_SPAN_MS,
  type CountedCode,
  type CountSubject,
  type EpochMs,
  type HourCount,
  type SubjectCount,
} from "@latchkey/core";
import { plain } from "./key-names.js";
import { inGroups } from "./pages.js";
import { asReply } from "./replies.js";
import { damaged, readStored, text, whole } from "./values.js";

const HOURS_A_DAY = 24;
const DAY_MS = HOURS_A_DAY * COUNTER_SPAN_MS;
const CODES: readonly string[] = COUNTED_CODES;

/** What is to be added to the counters of one subject and day. */
export interface DayCounts {
  /** What names the subject and day in the list of all. */
  readonly member: string;
  /** Field and number, in turn. */
  readonly counts: readonly string[];
}

/** Number of the day of UTC since the epoch that an instant is in. */
export function dayOf(at: EpochMs): number {
  return Math.floor(at / DAY_MS);
}

/** A subject and day in the list of all, which is in ascending order of day. */
export function dayMember({ kind, id }: CountSubject, day: number): string {
  return `${dayText(day)} ${kind} ${plain(id)}`;
}

/** In front of all members of this day and of those after it, behind all of those before it. */
export function dayText(day: number): string {
  return String(day).padStart(9, "0");
}

/** The day that a member of the list is of. */
export function dayOfMember(member: unknown): number {
  const day = Number(/^(\d{9}) /.exec(text(member))?.[1] ?? damaged());
  return day;
}

/** Counts put together by subject and day. */
export function byDay(counts: readonly SubjectCount[]): readonly DayCounts[] {
  const byMember = new Map<string, string[]>();
  for (const { subject, hourAt, code, count } of counts) {
    const member = dayMember(subject, dayOf(hourAt));
    const hour = Math.floor((hourAt % DAY_MS) / COUNTER_SPAN_MS);
    const known = byMember.get(member) ?? [];
    known.push(`${hour} ${code}`, String(count));
    byMember.set(member, known);
  }
  return [...byMember].map(([member, counts]) => ({ member, counts }));
}

/** Reads `{field, count, field, count …}` of one day: by hour, then in the order of the codes. */
export function hourCounts(day: number, reply: unknown): readonly HourCount[] {
  return readStored("verification counter", null, () =>
    inGroups(asReply(reply), 2)
      .map(([field, count]) => {
        const [hour, code] = text(field).split(" ");
        const hourAt = day * DAY_MS + hourOf(hour) * COUNTER_SPAN_MS;
        return { hourAt, code: countedCode(code), count: whole(count) };
      })
      .sort(inOrder),
  );
}

function inOrder(one: HourCount, other: HourCount): number {
  return one.hourAt - other.hourAt || CODES.indexOf(one.code) - CODES.indexOf(other.code);
}

function hourOf(value: unknown): number {
  const hour = whole(value);
  return hour < HOURS_A_DAY ? hour : damaged();
}

function countedCode(value: unknown): CountedCode {
  return CODES.includes(text(value)) ? (value as CountedCode) : damaged();
}
