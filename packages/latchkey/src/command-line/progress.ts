import { AUDIT_TYPES } from "@latchkey/core";
import type { ProgressListener } from "@latchkey/transfer";
import type { Host } from "./host.js";
import { plural } from "./words.js";

/** How often a line is written. */
const EVERY_MS = 2_000;

/**
 * Writes lines about long work to stderr, every other second.
 *
 * @returns A function to be called with each new line. It writes none before two seconds after its first call.
 */
export function progressLines(
  { warn }: Pick<Host, "warn">,
  everyMs = EVERY_MS,
): (line: () => string) => void {
  let shownAt: number | undefined;
  return (line) => {
    const now = performance.now();
    // From the first call on: a command that makes one change writes nothing, however long it took.
    shownAt ??= now;
    if (now - shownAt < everyMs) return;
    shownAt = now;
    warn(line());
  };
}

/**
 * Writes to stderr how many records a command has looked at: it may look at many, and find none.
 *
 * @returns A function to be called with the number of records of each page.
 */
export function lookedLines(host: Pick<Host, "warn">): (records: number) => void {
  const show = progressLines(host);
  let looked = 0;
  return (records) => {
    looked += records;
    show(() => `looked at ${plural(looked, "record")} so far`);
  };
}

/** Writes the progress of a transfer to stderr. */
export function transferProgress(host: Host): ProgressListener {
  const show = progressLines(host);
  return ({ phase, workspaceId, done, total, perSecond, secondsLeft }) =>
    show(() => {
      const left = secondsLeft === null ? "" : `, ${secondsLeft} s left`;
      return `${phase} ${workspaceId}: ${done} of ${total} records, ${perSecond} a second${left}`;
    });
}

const CHANGES: ReadonlySet<string> = new Set(AUDIT_TYPES);

/** Counts the changes of records that a command makes, and writes the number to stderr while it runs. */
export interface ChangeCounter {
  readonly onEvent: (event: { readonly type: string }) => void;
  readonly count: () => number;
}

/** A counter for one command. Commands that are done at once write nothing. */
export function changeCounter(host: Pick<Host, "warn">, everyMs?: number): ChangeCounter {
  const show = progressLines(host, everyMs);
  let count = 0;
  return {
    onEvent: ({ type }) => {
      if (!CHANGES.has(type)) return;
      count += 1;
      show(() => `${plural(count, "change")} so far`);
    },
    count: () => count,
  };
}
