/** What is wrong with a row, or what of it has no equal here. */
export interface RowIssue {
  /** In the words of createKeys, such as `hash.value`; `""` for the row as a whole. */
  readonly field: string;
  readonly message: string;
}

/** Uses and limits that all keys of an identity share, and what is known of it. As `createIdentity` takes it. */
export type IdentitySettings = Readonly<Record<string, unknown>>;

/** One key of a source. What it holds is checked by `createKeys`, not by the source. */
export interface ImportRow {
  /** Where it stands, counted from 1: lines of a JSON lines file, and otherwise rows. */
  readonly number: number;
  /** What the key is called there. */
  readonly id?: string | undefined;
  /** Fields of `createKeys`. */
  readonly key: Readonly<Record<string, unknown>>;
  /** Name of its API, where it has one. */
  readonly api?: string | undefined;
  /** Of its owner: it is made so where there is none of that `externalId` yet. */
  readonly identity?: IdentitySettings | undefined;
  /** If there are any, the row is skipped. */
  readonly issues: readonly RowIssue[];
  /** What is left out of the key or changed. It is imported all the same. */
  readonly notes: readonly RowIssue[];
  /** Whether its source cannot be read any further: what stands behind it is not imported. */
  readonly endsSource?: boolean | undefined;
}

/** Keys to import. */
export interface ImportSource {
  /** One after the other, so that they are never in memory as a whole. */
  readonly rows: AsyncIterable<ImportRow>;
  /** Columns of the rows read so far that go to no field. */
  readonly ignoredColumns: ReadonlySet<string>;
}
