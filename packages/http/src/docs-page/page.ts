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

/** Creates something on the first request and keeps it. A failure is tried again on the next request. */
export function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
