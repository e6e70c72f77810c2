/**
 * Calls `call` with each index below `calls`, in ascending order, at most `inFlight` at a time. The first failure is thrown.
 *
 * @param inFlight - 1: each call starts after the one before has ended.
 */
export async function inFlights(
  calls: number,
  inFlight: number,
  call: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  async function fly(): Promise<void> {
    while (next < calls) {
      const index = next;
      next += 1;
      await call(index);
    }
  }
  if (inFlight === 1) return fly();
  await Promise.all(Array.from({ length: inFlight }, fly));
}
