import type { Plan } from "./plan/plan.js";
import { planOf } from "./plan/plan-of.js";
import { runPlan } from "./run.js";
import { shrink } from "./shrink.js";
import { addCounts, print, type Tally } from "./tally.js";
import type { Stores } from "./world/scheduler.js";

/** What to run. */
export interface SimulateOptions {
  readonly seed: number;
  /** The plan to run; null: plans are made from seeds. */
  readonly plan: Plan | null;
  readonly schedules: number;
  /** When to stop, by `now`; null: when all schedules have run. */
  readonly endsAt: number | null;
  readonly isStory: boolean;
  /** Whether to go on after a violation. */
  readonly goesOn: boolean;
  /** Whether to search for the shortest story of a violation. */
  readonly shrinks: boolean;
  /** Undefined: memory stores. */
  readonly stores: Stores | undefined;
  /** The host's clock, not the simulated one. */
  readonly now: () => number;
}

/** Runs schedules until one breaks a law, and prints that. */
export async function simulate(options: SimulateOptions): Promise<Tally> {
  const { seed, schedules, endsAt, isStory, goesOn, shrinks, stores, now } = options;
  const before = process.cpuUsage();
  const counts: Record<string, number> = {};
  let [done, violations] = [0, 0];
  while (endsAt === null ? done < schedules : now() < endsAt) {
    const plan = options.plan ?? planOf(seed + done);
    const run = await runPlan(plan, isStory, stores);
    done += 1;
    addCounts(counts, run.counts);
    if (isStory) print(run.story);
    if (run.violation === null) continue;
    const { law, how } = run.violation;
    print([`seed ${plan.seed}, schedule ${done}: ${law}`, `  ${how}`, ""]);
    violations += 1;
    if (goesOn) continue;
    if (!shrinks) break;
    const short = await shrink(plan, law, stores);
    print(["the shortest story that was found:", ...setting(short.plan), ...short.run.story]);
    print([`  ${short.run.violation?.how ?? how}`, `again: --seed ${plan.seed} --story`]);
    break;
  }
  const { user, system } = process.cpuUsage(before);
  return { done, violations, counts, seconds: (user + system) / 1e6 };
}

function setting({ network, processes, clockOffsets, keys, workspaces }: Plan) {
  return [
    `  ${processes} processes, network ${network}, clocks off by ${clockOffsets.join(", ")} ms`,
    `  workspaces ${JSON.stringify(workspaces)}`,
    ...keys.map((key, index) => `  k${index} ${JSON.stringify(key)}`),
  ];
}
