import type { Latchkey } from "@latchkey/core";

/** Verifies four times at once, enough for a key in use on a store of any speed. @returns The number of valid verdicts. */
export async function verifyInUse(latchkey: Latchkey, key: string): Promise<number> {
  const verdicts = Array.from({ length: 4 }, () => latchkey.verifyKey({ key }));
  return (await Promise.all(verdicts)).filter(({ valid }) => valid).length;
}

/** Verifies until this process has a lease. @returns The number of valid verdicts. */
export async function untilLeased(
  latchkey: Latchkey,
  key: string,
  leased: () => number,
): Promise<number> {
  const before = leased();
  let count = 0;
  while (leased() === before) {
    count += await verifyInUse(latchkey, key);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return count;
}

export function counting(): {
  readonly onEvent: (event: object) => void;
  readonly leased: () => number;
} {
  let count = 0;
  const onEvent = (event: object) => {
    if ("leased" in event) count += 1;
  };
  return { onEvent, leased: () => count };
}
