/** A path that serves a file instead of an operation. */
export interface Page {
  /** What follows the version in the path. */
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
