import { afterInputAndOutput } from "../lib/promises.js";

/**
 * Waits for some work, but no longer than `timeoutMs`; the work itself continues. A result that arrived while this process was busy is in
 * time. No timer outlives the result.
 *
 * @param timeoutMs - In ms. With 0 or less, only a result that is already there is in time.
 * @param late - Creates the error to reject with. Default: one without a message.
 * @param translate - Converts an error of the work.
 * @param onLate - Called with a result that comes too late.
 */
export function withTimeout<Answer>(
  timeoutMs: number,
  work: Promise<Answer>,
  late: () => unknown = () => new Error(),
  translate: (error: unknown) => unknown = (error) => error,
  onLate: (answer: Answer) => void = () => undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      reject(late());
    };
    // Node.js keeps a list for each whole number of ms, so timers of the same length share one.
    const timer = setTimeout(() => afterInputAndOutput(giveUp), Math.ceil(Math.max(0, timeoutMs)));
    work.then(
      (answer) => {
        clearTimeout(timer);
        if (isLate) onLate(answer);
        else resolve(answer);
      },
      (error) => {
        clearTimeout(timer);
        reject(translate(error));
      },
    );
  });
}
