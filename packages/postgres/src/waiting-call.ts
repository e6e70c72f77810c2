import { noAnswer, withTimeout } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Statement } from "./engine/database.js";

/** A call in a queue, which waits to be sent, or for its result. */
export interface WaitingCall {
  /** In `performance.now()` time. */
  readonly deadline: number;
  readonly answer: (text: string) => void;
  readonly reject: (error: unknown) => void;
  readonly state: {
    /** How often it was sent, or found its locks taken. */
    attempts: number;
    /** Whether it is with the server. */
    isSent: boolean;
    /** Whether its caller already got an error for a missing reply. */
    isOver: boolean;
  };
}

/**
 * The result of a call that is put into a queue.
 *
 * @param deadline - `performance.now()` by which there is a result or an error.
 * @param isWrite - Whether it may have changed something if it was sent.
 */
export function resultOf(
  deadline: number,
  isWrite: boolean,
  put: (call: WaitingCall) => void,
): Promise<string> {
  const state = { attempts: 0, isSent: false, isOver: false };
  const answered = new Promise<string>((answer, reject) => {
    put({ deadline, answer, reject, state });
  });
  return withTimeout(deadline - performance.now(), answered, () => {
    state.isOver = true;
    return noAnswer(state.isSent && isWrite, "PostgreSQL did not answer in time");
  });
}

/** Runs a statement for several calls, and returns its one value. It has until the latest of their deadlines. */
export async function askFor(
  batch: readonly WaitingCall[],
  connection: Connection,
  statement: Statement,
  isWrite: boolean,
): Promise<string | null | undefined> {
  const onSend = () => {
    for (const { state } of batch) state.isSent = true;
  };
  const deadline = Math.max(...batch.map((call) => call.deadline));
  return (await connection.run({ ...statement, onSend }, isWrite, deadline))[0]?.[0];
}
