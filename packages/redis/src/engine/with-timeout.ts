/** Thrown where an answer does not come in time. */
class TimedOut extends Error {}

/**
 * The answer, or an error when it does not come in time. The work itself goes on.
 *
 * @throws TimedOut
 */
export function withTimeout<Answer>(timeoutMs: number, work: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimedOut()), timeoutMs);
    work.then(
      (answer) => {
        clearTimeout(timer);
        resolve(answer);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
