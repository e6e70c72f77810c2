import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";

/** `LATCHKEY_FUZZ_RUNS=50` multiplies the inputs by fifty. `LATCHKEY_FUZZ_SEED` repeats those of a failure. */
const { LATCHKEY_FUZZ_RUNS: times = "1", LATCHKEY_FUZZ_SEED: seed } = process.env;

/** How long inputs are generated, unless more are requested, in ms. */
const MOST_MS = 2_500;

/** Inputs for one parser or one set of operations. They are JSON, so that the corpus can keep a failure. */
export interface Fuzzed<Input> {
  /** Name of its file in the corpus, without the extension. */
  readonly corpus: string;
  /** Maximum inputs, before they are multiplied. */
  readonly runs: number;
  readonly input: fc.Arbitrary<Input>;
  /** Throws if the answer to an input is not allowed. */
  readonly feed: (input: Input) => Promise<void>;
}

/** A test with the inputs of the corpus, then with generated ones. A failure prints the input and the seed. */
export function fuzz<Input>(title: string, { corpus, runs, input, feed }: Fuzzed<Input>): void {
  const factor = Math.max(1, Number(times));
  const numRuns = Math.ceil(runs * Number(times));
  test(
    title,
    async () => {
      for (const kept of keptInputs<Input>(corpus)) await feed(kept);
      await fc.assert(fc.asyncProperty(input, feed), {
        numRuns,
        // On a busy machine fewer inputs are enough, so that nobody waits for a minute.
        ...(factor === 1 && { interruptAfterTimeLimit: MOST_MS }),
        ...(seed !== undefined && { seed: Number(seed) }),
      });
    },
    120_000 * factor,
  );
}

function keptInputs<Input>(corpus: string): readonly Input[] {
  const file = new URL(`./corpus/${corpus}.json`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
}
