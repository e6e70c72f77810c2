/**
 * Calls `call` for 0, 1, 2, … below `calls`, so many at a time, in order of their start. The first failure is thrown.
 *
 * @param inFlight - 1: each call starts when the one before has ended.
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
