/** What is wrong with a row, or what the import had to change. */
export interface RowIssue {
  /** A field of createKeys, such as `hash.value`; `""` for the whole row. */
  readonly field: string;
  readonly message: string;
}

/** Metadata, shared uses and shared limits of an identity, as for `createIdentity`. */
export type IdentitySettings = Readonly<Record<string, unknown>>;

/** One key of a source. `createKeys` checks its fields. */
export interface ImportRow {
  /** Number of the line (JSON lines) or row, from 1. */
  readonly number: number;
  /** Id of the key in the source. */
  readonly id?: string | undefined;
  /** Fields of `createKeys`. */
  readonly key: Readonly<Record<string, unknown>>;
  /** Name of its API, if it has one. */
  readonly api?: string | undefined;
  /** Data of its owner, used if the identity does not exist yet. */
  readonly identity?: IdentitySettings | undefined;
  /** If there are any, the row is skipped. */
  readonly issues: readonly RowIssue[];
  /** What was left out or changed; the key is still imported. */
  readonly notes: readonly RowIssue[];
  /** Whether the source cannot be read any further: later rows are not imported. */
  readonly endsSource?: boolean | undefined;
}

/** Keys to import. */
export interface ImportSource {
  /** Read one by one, never all in memory. */
  readonly rows: AsyncIterable<ImportRow>;
  /** Columns read so far that map to no field. */
  readonly ignoredColumns: ReadonlySet<string>;
}
