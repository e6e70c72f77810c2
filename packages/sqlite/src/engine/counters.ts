import {
  corruptRecord,
  type LimitState,
  limitStateText,
  parseLimitState,
  readUsage,
  type Usage,
} from "@latchkey/core";
import type { Row } from "./database.js";
import type { Statements } from "./statements.js";

/** What runs the statements: a connection. */
interface Runner {
  readonly run: Statements;
}

/** Counters as `latchkey_counters` holds them. The windows are a few: those of limits that are configured. */
export interface StoredCounters {
  readonly usage: Usage;
  readonly windows: readonly { readonly name: string; readonly window: LimitState }[];
}

type Windows = StoredCounters["windows"];

/** Reads four columns from a place of a row. @throws LatchkeyError `STORE_CORRUPT` when they cannot be what was written. */
export function readCounters(row: Row, at: number): StoredCounters {
  const usage = readUsage(row.slice(at, at + 3));
  if (usage === undefined) throw corruptRecord("counters");
  return { usage, windows: readWindows(row[at + 3]) };
}

function readWindows(stored: unknown): Windows {
  if (stored === "") return [];
  return Array.from(String(stored).split(" "), (word) => {
    const [name, at, rest, ...more] = word.split("=");
    if (name === undefined || name === "" || more.length > 0) throw corruptRecord("counters");
    return { name, window: parseLimitState(`${at}:${rest}`) };
  });
}

/** The windows with one replaced. */
export function withWindow(windows: Windows, name: string, window: LimitState): Windows {
  return [...windows.filter((stored) => stored.name !== name), { name, window }];
}

/** @throws LatchkeyError `STORE_CORRUPT` when they cannot be what was written, or are gone. */
export function findCounters({ run }: Runner, seq: number): StoredCounters {
  return readCounters(run.counters.get(seq) ?? [], 0);
}

/** Writes new counters. @returns Their number. */
export function addCounters({ run }: Runner, usage: Usage): number {
  const { remaining, refilledAt, lastRefillAt } = usage;
  return Number(run.addCounters.run(remaining, refilledAt, lastRefillAt).lastInsertRowid);
}

/** Writes counters that are there. */
export function moveCounters({ run }: Runner, seq: number, counters: StoredCounters): void {
  const { usage, windows } = counters;
  const words = windows.map(
    ({ name, window }) => `${name}=${limitStateText(window).replace(":", "=")}`,
  );
  const { remaining, refilledAt, lastRefillAt } = usage;
  run.moveCounters.run(remaining, refilledAt, lastRefillAt, words.join(" "), seq);
}

/** One record less has them; they go with the last one. */
export function leaveCounters({ run }: Runner, seq: number): void {
  if (run.leaveCounters.run(seq).changes === 0) run.deleteCounters.run(seq);
}
