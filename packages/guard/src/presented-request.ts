/** What a request presents, in the words of no framework. */
export interface PresentedRequest {
  /** Every value of `Authorization`, one for each time that the header was sent. */
  readonly authorization: readonly string[];
  /** Every value of `X-API-Key`. */
  readonly apiKey: readonly string[];
  /** Every value of `X-Forwarded-For`, in the order in which they were sent. Read only where proxies are trusted. */
  readonly forwardedFor: readonly string[];
  /** Address of the other end of the connection, as the socket says it; null where that is not known. */
  readonly remoteAddress: string | null;
}
