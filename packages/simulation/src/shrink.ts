import type { Plan } from "./plan/plan.js";
import { type Run, runPlan } from "./run.js";
import type { Stores } from "./world/scheduler.js";

/** Most runs that one shrinking may take. */
const MOST_RUNS = 600;

/** Removes from a plan what is not needed to break the same law: steps, the rough network, and pauses. */
export async function shrink(
  plan: Plan,
  law: string,
  stores?: Stores,
): Promise<{ plan: Plan; run: Run }> {
  let best = { plan, run: await runPlan(plan, true, stores) };
  let runs = 0;
  const tried = async (candidate: Plan): Promise<boolean> => {
    runs += 1;
    const run = await runPlan(candidate, true, stores);
    if (run.violation?.law !== law) return false;
    best = { plan: candidate, run };
    return true;
  };
  for (let size = Math.ceil(plan.steps.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let from = 0; from < best.plan.steps.length && runs < MOST_RUNS; ) {
      const steps = best.plan.steps.filter((_, place) => place < from || place >= from + size);
      if (!(await tried({ ...best.plan, steps }))) from += size;
    }
  // A calm network and fewer pauses are easier to read.
  if (best.plan.network === "rough") await tried({ ...best.plan, network: "calm" });
  for (const [place, step] of best.plan.steps.entries())
    if (step.afterMs !== 0 && runs < MOST_RUNS)
      await tried({
        ...best.plan,
        steps: best.plan.steps.map((one, at) => (at === place ? { ...one, afterMs: 0 } : one)),
      });
  return best;
}
