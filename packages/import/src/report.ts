import type { ImportRow, RowIssue } from "./row.js";

/** What happened to a row; in a dry run, what would happen. */
export type RowOutcome = "written" | "already there" | "skipped";

/** Result of one row. */
export interface RowReport {
  readonly row: number;
  /** Id of the key in the source. */
  readonly id?: string | undefined;
  readonly outcome: RowOutcome;
  /** Id of the new key. */
  readonly keyId?: string | undefined;
  /** Why it was skipped. */
  readonly issues: readonly RowIssue[];
  /** What was left out or changed. */
  readonly notes: readonly RowIssue[];
}

/** Rows with the same issue or note. */
export interface Reason extends RowIssue {
  readonly rows: number;
  readonly firstRow: number;
  /** Id of the key of that row in the source. */
  readonly firstId?: string | undefined;
}

/** Progress of an import; the last report is the result. */
export interface ImportReport {
  readonly isDryRun: boolean;
  /** Whether all rows were read. */
  readonly isDone: boolean;
  readonly rows: number;
  readonly written: number;
  /** Rows whose secret is that of an existing key or an earlier row. */
  readonly alreadyThere: number;
  readonly skipped: number;
  /** The most frequent first; at most the first 1,000 reasons. */
  readonly issues: readonly Reason[];
  readonly notes: readonly Reason[];
  /** Names of what was created. */
  readonly created: {
    readonly apis: readonly string[];
    readonly permissions: readonly string[];
    readonly roles: readonly string[];
  };
  /** Columns that map to no field: the first 1,000. */
  readonly ignoredColumns: readonly string[];
  /** The row from which the source could not be read, and nothing is imported; null if it was read to its end. */
  readonly unreadFrom: number | null;
  readonly elapsedMs: number;
  readonly rowsPerSecond: number;
}

/** Further reasons are counted only in the totals. */
const MAX_REASONS = 1_000;

/** Maximum characters that a report quotes from a source: a row may have a million. */
const MAX_TEXT = 256;

/** Names of what is created, by kind. */
export type CreatedKind = keyof ImportReport["created"];

/** Counts the results of rows, in memory that does not grow with their number. */
export class RowCounts {
  readonly #counts: Record<RowOutcome, number> = { written: 0, "already there": 0, skipped: 0 };
  readonly #issues = new Map<string, Reason>();
  readonly #notes = new Map<string, Reason>();
  readonly #created: Record<CreatedKind, Set<string>> = {
    apis: new Set(),
    permissions: new Set(),
    roles: new Set(),
  };
  readonly #isDryRun: boolean;
  readonly #ignoredColumns: ReadonlySet<string>;
  readonly #elapsedMs: () => number;
  #unreadFrom: number | null = null;

  constructor(isDryRun: boolean, ignoredColumns: ReadonlySet<string>, elapsedMs: () => number) {
    this.#isDryRun = isDryRun;
    this.#ignoredColumns = ignoredColumns;
    this.#elapsedMs = elapsedMs;
  }

  add(row: RowReport): void {
    this.#counts[row.outcome] += 1;
    count(this.#issues, row, row.issues);
    if (row.outcome === "written") count(this.#notes, row, row.notes);
  }

  /** Records that a source ended early. */
  endAt(row: number): void {
    this.#unreadFrom = row;
  }

  create(kind: CreatedKind, name: string): void {
    this.#created[kind].add(name);
  }

  report(isDone: boolean): ImportReport {
    const { written, skipped, "already there": alreadyThere } = this.#counts;
    const rows = written + skipped + alreadyThere;
    const elapsedMs = this.#elapsedMs();
    const { apis, permissions, roles } = this.#created;
    return {
      isDryRun: this.#isDryRun,
      isDone,
      rows,
      written,
      alreadyThere,
      skipped,
      issues: sorted(this.#issues),
      notes: sorted(this.#notes),
      created: { apis: [...apis], permissions: [...permissions], roles: [...roles] },
      ignoredColumns: [...this.#ignoredColumns],
      unreadFrom: this.#unreadFrom,
      elapsedMs,
      rowsPerSecond: elapsedMs > 0 ? (rows / elapsedMs) * 1_000 : 0,
    };
  }
}

/** A row in the report. */
export function rowReport(
  { number, id, notes }: ImportRow,
  outcome: RowOutcome,
  more: { readonly issues?: readonly RowIssue[]; readonly keyId?: string | undefined } = {},
): RowReport {
  const { issues = [], keyId } = more;
  return {
    row: number,
    id: id?.slice(0, MAX_TEXT),
    outcome,
    keyId,
    issues: issues.map(({ field, message }) => {
      return { field: field.slice(0, MAX_TEXT), message: message.slice(0, MAX_TEXT) };
    }),
    notes,
  };
}

function count(
  reasons: Map<string, Reason>,
  { row, id }: RowReport,
  issues: readonly RowIssue[],
): void {
  for (const { field, message } of issues) {
    const name = `${field}\n${message}`;
    const known = reasons.get(name);
    if (known !== undefined) reasons.set(name, { ...known, rows: known.rows + 1 });
    else if (reasons.size < MAX_REASONS)
      reasons.set(name, { field, message, rows: 1, firstRow: row, firstId: id });
  }
}

function sorted(reasons: ReadonlyMap<string, Reason>): readonly Reason[] {
  return [...reasons.values()].sort(
    (one, other) => other.rows - one.rows || one.firstRow - other.firstRow,
  );
}
