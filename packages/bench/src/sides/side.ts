/** Answers one question about one secret. `requestId`: unique to the call; used if the question has request ids. */
export type Verify = (secret: string, requestId: string) => Promise<unknown>;

/** One way to answer a question. All sides have the same secrets. */
export interface Side {
  readonly name: string;
  verify: Verify;
  /** Whether a verdict is the expected one. */
  isExpected(verdict: unknown): boolean;
  /** Uses left according to a verdict; null: the verdict does not say. */
  remainingOf(verdict: unknown): number | null;
  /** How many of the secrets this side knows, counted from the first. A slow side gets fewer, which can only help it. */
  readonly keyCount: number;
  close(): Promise<void>;
}

/** Thrown if a side cannot take part. The message says why. */
export class AbsentError extends Error {
  override readonly name = "AbsentError";
}
