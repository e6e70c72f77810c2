/**
 * The answer, or an error when it does not come in time. The work itself goes on. What came while this process was busy came
 * in time: answers are read before it is decided that there is none.
 *
 * @param late - Makes the error; without it, one that says nothing.
 * @param translate - Makes another error of what the work rejects with.
 */
export function withTimeout<Answer>(
  timeoutMs: number,
  work: Promise<Answer>,
  late: () => Error = () => new Error(),
  translate: (error: unknown) => unknown = (error) => error,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(late())), timeoutMs);
    work.then(
      (answer) => {
        clearTimeout(timer);
        resolve(answer);
      },
      (error) => {
        clearTimeout(timer);
        reject(translate(error));
      },
    );
  });
}
