import {
  corruptRecord,
  holdSumsText,
  type LimitState,
  limitStateText,
  parseLimitState,
  readUsage,
  type Usage,
} from "@latchkey/core";
import type { Row } from "./database.js";
import type { Statements } from "./statements.js";

/** Anything with the prepared statements: a connection. */
interface Runner {
  readonly run: Statements;
}

/** Counters as `latchkey_counters` stores them. There are few windows: one for each limit that is configured. */
export interface StoredCounters {
  readonly usage: Usage;
  readonly windows: readonly { readonly name: string; readonly window: LimitState }[];
}

type Windows = StoredCounters["windows"];

/** Reads counters from four columns of a row, from `at` on. @throws LatchkeyError `STORE_CORRUPT` if they are damaged. */
export function readCounters(row: Row, at: number): StoredCounters {
  const words = wordsOf(row[at + 3]);
  const usage = usageOf(row, at, words);
  if (usage === undefined) throw corruptRecord("counters");
  return { usage, windows: readWindows(words) };
}

/** The usage in the same columns; undefined if it is damaged. */
export function usageAt(row: Row, at: number): Usage | undefined {
  return usageOf(row, at, wordsOf(row[at + 3]));
}

function usageOf(row: Row, at: number, words: readonly string[]): Usage | undefined {
  return readUsage([row[at], row[at + 1], row[at + 2], words.find(isSums) ?? null]);
}

function readWindows(words: readonly string[]): Windows {
  return words
    .filter((word) => !isSums(word))
    .map((word) => {
      const [name, at, rest, ...more] = word.split("=");
      if (name === undefined || name === "" || more.length > 0) throw corruptRecord("counters");
      return { name, window: parseLimitState(`${at}:${rest}`) };
    });
}

function wordsOf(stored: unknown): readonly string[] {
  return stored === "" ? [] : String(stored).split(" ");
}

/** Whether a word holds the totals of holds: unlike the words of windows, it has no `=`. */
function isSums(word: string): boolean {
  return !word.includes("=");
}

/** The windows with one replaced. */
export function withWindow(windows: Windows, name: string, window: LimitState): Windows {
  return [...windows.filter((stored) => stored.name !== name), { name, window }];
}

/** @throws LatchkeyError `STORE_CORRUPT` if they are damaged or missing. */
export function findCounters({ run }: Runner, seq: number): StoredCounters {
  return readCounters(run.counters.get(seq) ?? [], 0);
}

/** Writes new counters. @returns Their number. */
export function addCounters({ run }: Runner, usage: Usage): number {
  const columns = columnsOf({ usage, windows: [] });
  return Number(run.addCounters.run(...columns).lastInsertRowid);
}

/** Updates existing counters. */
export function moveCounters({ run }: Runner, seq: number, counters: StoredCounters): void {
  run.moveCounters.run(...columnsOf(counters), seq);
}

function columnsOf({ usage, windows }: StoredCounters) {
  const { remaining, refilledAt, lastRefillAt, holds } = usage;
  const words = windows.map(
    ({ name, window }) => `${name}=${limitStateText(window).replace(":", "=")}`,
  );
  if (holds !== undefined) words.push(holdSumsText(holds));
  return [remaining, refilledAt, lastRefillAt, words.join(" ")] as const;
}

/** Detaches one record from its counters. If no other record has them, they are deleted, together with their holds. */
export function leaveCounters({ run }: Runner, seq: number): void {
  if (run.leaveCounters.run(seq).changes > 0) return;
  const gone = run.deleteCounters.get(seq) as { readonly windows: unknown } | undefined;
  if (!wordsOf(gone?.windows ?? "").some(isSums)) return;
  // What such a hold took from other counters comes back when it expires.
  run.deleteFirst.run(seq);
  run.deleteSecond.run(seq);
  run.leaveFirst.run(seq);
  run.leaveSecond.run(seq);
}
