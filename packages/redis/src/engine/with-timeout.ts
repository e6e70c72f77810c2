/**
 * The answer, or an error when it does not come in time. The work itself goes on.
 *
 * @throws Error that says nothing.
 */
export async function withTimeout<Answer>(timeoutMs: number, work: Promise<Answer>) {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error()), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
