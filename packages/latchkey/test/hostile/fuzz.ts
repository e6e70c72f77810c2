import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";

/** `LATCHKEY_FUZZ_RUNS=50`: fifty times as many inputs. `LATCHKEY_FUZZ_SEED`: those that a failure printed. */
const { LATCHKEY_FUZZ_RUNS: times = "1", LATCHKEY_FUZZ_SEED: seed } = process.env;

/** How long inputs are generated where nobody asked for more of them, in ms. */
const MOST_MS = 2_500;

/** What is fed to one parser or one set of operations. Inputs are JSON, so that a failure can be kept in the corpus. */
export interface Fuzzed<Input> {
  /** Name of its file in the corpus, without the ending. */
  readonly corpus: string;
  /** How many inputs at most, before they are multiplied. */
  readonly runs: number;
  readonly input: fc.Arbitrary<Input>;
  /** Throws where an input is answered as none may be. */
  readonly feed: (input: Input) => Promise<void>;
}

/** A test that feeds what once mattered, then generated inputs. A failure prints the input and the seed. */
export function fuzz<Input>(title: string, { corpus, runs, input, feed }: Fuzzed<Input>): void {
  const factor = Math.max(1, Number(times));
  const numRuns = Math.ceil(runs * Number(times));
  test(
    title,
    async () => {
      for (const kept of keptInputs<Input>(corpus)) await feed(kept);
      await fc.assert(fc.asyncProperty(input, feed), {
        numRuns,
        // On a machine that is busy fewer inputs will do: nobody waits for a minute.
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
