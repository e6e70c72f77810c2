import type { Clock } from "@latchkey/core";

/** What a command gets besides its arguments. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes one line to stdout. */
  readonly print: (line: string) => void;
  /** Resolves when all output has left the program. If nobody reads it any more, the program ends instead. */
  readonly printed: () => Promise<void>;
  /** From now on, the program finishes its work even if stdout is closed or full and nothing more can be printed. */
  readonly keepGoing: () => void;
  /** Writes one line to stderr. */
  readonly warn: (line: string) => void;
  /** The terminal behind stdout; null if it is a file or another program. */
  readonly terminal: Terminal | null;
  /** Whether stdin is a terminal, so that a person can be asked. */
  readonly asks: boolean;
  /** Reads stdin to its end, or, from a terminal, one line that is not shown, after a prompt. */
  readonly readInput: (prompt: string) => Promise<string>;
  /** The text of {@link readInput} in pieces, as they come: stdin may be longer than a string can be. */
  readonly readPieces: (prompt: string) => AsyncIterable<string>;
  /** The clock for decisions. Default: the machine's. */
  readonly clock?: Clock;
  /** Resolves after `ms`: to true, or to false if the program was asked to stop. */
  readonly pause: (ms: number) => Promise<boolean>;
}

/** The clock of a host. */
export function clockOf({ clock = Date.now }: Pick<Host, "clock">): Clock {
  return clock;
}

/** A terminal that shows results. */
export interface Terminal {
  /** Characters in a line. */
  readonly columns: number;
  readonly hasColors: boolean;
}
