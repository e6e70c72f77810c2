/** A path that serves a file instead of an operation. */
export interface Page {
  /** The rest of the path, after the version. */
  readonly name: string;
  readonly method: "GET";
  readonly content: () => Promise<PageContent>;
}

/** A file with its own headers. */
export interface PageContent {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}
