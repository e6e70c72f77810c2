import type { KeyStore } from "@latchkey/core";
import type { Stage } from "./store-promise.js";

/**
 * Starts `count` attempts together: all wait at one gate, which opens when the last has arrived. Every other
 * attempt goes through the second handle of the stage.
 *
 * @returns What each attempt answered, in the order of their numbers.
 */
export async function race<Answer>(
  stage: Stage,
  count: number,
  attempt: (store: KeyStore, number: number) => Promise<Answer>,
): Promise<readonly Answer[]> {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const racers = Array.from({ length: count }, async (_, number) => {
    await gate;
    return attempt(number % 2 === 0 ? stage.store : stage.other, number);
  });
  open();
  return Promise.all(racers);
}

/** How often each answer came, for answers that are words. */
export function tally(answers: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[answer] = (counts[answer] ?? 0) + 1;
  return counts;
}
