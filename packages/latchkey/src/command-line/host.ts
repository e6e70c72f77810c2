import type { Clock } from "@latchkey/core";

/** What a command is given beside its arguments. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes one line to stdout. */
  readonly print: (line: string) => void;
  /** Writes one line to stderr. */
  readonly warn: (line: string) => void;
  /** The terminal that stdout is; null: a file or another program. */
  readonly terminal: Terminal | null;
  /** Whether stdin is a terminal, at which somebody can be asked. */
  readonly asks: boolean;
  /** Reads stdin to its end, or, from a terminal, one line that is not shown, behind a prompt. */
  readonly readInput: (prompt: string) => Promise<string>;
  /** The clock of decisions; that of the machine unless given. */
  readonly clock?: Clock;
  /** Resolves after `ms`: with true, or with false where the program was asked to stop. */
  readonly pause: (ms: number) => Promise<boolean>;
}

/** The clock of a host. */
export function clockOf({ clock = Date.now }: Pick<Host, "clock">): Clock {
  return clock;
}

/** A terminal that results are shown on. */
export interface Terminal {
  /** Characters in a line. */
  readonly columns: number;
  readonly hasColors: boolean;
}
