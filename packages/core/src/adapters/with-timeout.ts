/**
 * The answer of some work, or an error when it does not come in time. The work itself goes on. What came while this process was busy
 * came in time: answers are read before it is decided that there is none. No timer outlives the answer.
 *
 * @param timeoutMs - In ms. With 0 or less, only what is there already is in time.
 * @param late - Makes the error; without it, one that says nothing.
 * @param translate - Makes another error of what the work rejects with.
 * @param onLate - Gets an answer that comes after all.
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
    // Node.js keeps a list for each number of whole ms: timers of one call share theirs.
    const timer = setTimeout(() => setImmediate(giveUp), Math.ceil(Math.max(0, timeoutMs)));
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
