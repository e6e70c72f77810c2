/** What a path answers that is no operation: a file, sent as it is. */
export interface Page {
  /** What follows `/v1/` in the path. */
  readonly name: string;
  readonly method: "GET";
  readonly content: () => Promise<PageContent>;
}

/** A file with what belongs to it alone. */
export interface PageContent {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes content once, when it is first asked for. What failed is tried again. */
export function once(make: () => Promise<PageContent>): () => Promise<PageContent> {
  let made: Promise<PageContent> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
