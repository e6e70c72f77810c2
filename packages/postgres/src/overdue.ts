import { unavailable } from "@latchkey/core";

/** A call that waits for its turn, and until when: as `performance.now()` counts. */
export interface Waiting {
  readonly deadline: number;
  readonly reject: (error: unknown) => void;
}

/** Takes those from the front whose time is over, and rejects them: `STORE_UNAVAILABLE` with the outcome `not-applied`. */
export function rejectOverdue(waiting: Waiting[], message: string): void {
  const now = performance.now();
  while (waiting[0] !== undefined && waiting[0].deadline <= now)
    waiting.shift()?.reject(unavailable(message));
}
