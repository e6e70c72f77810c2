import { corruptRecord, isWhole, type RateWindow, readUsage, type Usage } from "@latchkey/core";
import type { Row } from "./database.js";
import type { Statements } from "./statements.js";

/** What runs the statements: a connection. */
interface Runner {
  readonly run: Statements;
}

/** Counters as `latchkey_counters` holds them. The windows are a few: those of limits that are configured. */
export interface StoredCounters {
  readonly usage: Usage;
  readonly windows: readonly { readonly name: string; readonly window: RateWindow }[];
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
    const [, name, start, used] = /^([^=]+)=(\d+)=(\d+)$/.exec(word) ?? [];
    const window = { startedAt: Number(start), used: Number(used) };
    if (name !== undefined && isWhole(window.startedAt) && isWhole(window.used))
      return { name, window };
    throw corruptRecord("counters");
  });
}

/** The windows with one replaced. */
export function withWindow(windows: Windows, name: string, window: RateWindow): Windows {
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
  const words = windows.map(({ name, window }) => `${name}=${window.startedAt}=${window.used}`);
  const { remaining, refilledAt, lastRefillAt } = usage;
  run.moveCounters.run(remaining, refilledAt, lastRefillAt, words.join(" "), seq);
}

/** One record less has them; they go with the last one. */
export function leaveCounters({ run }: Runner, seq: number): void {
  if (run.leaveCounters.run(seq).changes === 0) run.deleteCounters.run(seq);
}
