/** The parts of a request that a decision needs, for any framework. */
export interface PresentedRequest {
  /** Every value of `Authorization`, one for each time that the header was sent. */
  readonly authorization: readonly string[];
  /** Every value of `X-API-Key`. */
  readonly apiKey: readonly string[];
  /** Every value of `X-Forwarded-For`, in the order in which they were sent. Read only if proxies are trusted. */
  readonly forwardedFor: readonly string[];
  /** Address of the other end of the connection, from the socket; null if unknown. */
  readonly remoteAddress: string | null;
}
