/** Answers one question about one secret. `requestId`: of this call alone, where the question has one. */
export type Verify = (secret: string, requestId: string) => Promise<unknown>;

/** One way to answer a question, over the same secrets as the others. */
export interface Side {
  readonly name: string;
  verify: Verify;
  /** Whether a verdict is the right one. */
  isExpected(verdict: unknown): boolean;
  /** Uses left as a verdict says them, or null where it does not. */
  remainingOf(verdict: unknown): number | null;
  /** How many of the secrets this side knows, from the first on: a slow one is given fewer, which can only help it. */
  readonly keyCount: number;
  close(): Promise<void>;
}

/** Why a side cannot take part. */
export class AbsentError extends Error {
  override readonly name = "AbsentError";
}
