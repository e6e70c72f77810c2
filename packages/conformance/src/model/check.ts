import fc from "fast-check";
import type { StoreContract, TestContext } from "../fixtures/context.js";
import { runsOf } from "../fixtures/random.js";
import { step } from "./arbitraries.js";
import { ModelRun } from "./run.js";

const RUNS = 20;
const MAX_STEPS = 50;

export const modelContracts: readonly StoreContract[] = [
  {
    title: "any sequence of reads, changes and charges is answered as by the model",
    check: ({ openEmpty }, share) => checkAgainstModel(openEmpty, process.env, share),
    timeoutMs: 300_000 * Math.max(1, Number(process.env.LATCHKEY_MODEL_RUNS ?? "1")),
  },
];

/**
 * Runs random sequences of calls on stores and on the model, and compares every result, and after each write everything that can be read.
 *
 * @param environment - `LATCHKEY_MODEL_RUNS=10` runs ten times as many sequences, `LATCHKEY_MODEL_SEED=<seed>` repeats the ones that a
 * failure printed.
 *
 * `LATCHKEY_MODEL_SHRINK=no` shows the first failing sequence as it is.
 *
 * @param share - Share of the usual number of sequences.
 * @throws The first difference, with the shortest sequence found that shows it, the seed and the path.
 */
export async function checkAgainstModel(
  openEmpty: () => Promise<TestContext>,
  environment: { readonly [name: string]: string | undefined },
  share = 1,
): Promise<void> {
  const { LATCHKEY_MODEL_SEED: seed } = environment;
  const endOnFailure = environment.LATCHKEY_MODEL_SHRINK === "no";
  const sequence = fc.array(step, { maxLength: MAX_STEPS, size: "max" });
  await fc.assert(
    fc.asyncProperty(sequence, async (steps) => {
      const context = await openEmpty();
      try {
        await new ModelRun(context).run(steps);
      } finally {
        await context.close();
      }
    }),
    {
      endOnFailure,
      numRuns: runsOf(RUNS, share, environment),
      ...(seed !== undefined && { seed: Number(seed) }),
    },
  );
}
