import type { Plan } from "./plan/plan.js";
import { planOf } from "./plan/plan-of.js";
import { runPlan } from "./run.js";
import { shrink } from "./shrink.js";
import { addCounts, print, type Tally } from "./tally.js";

/** What to run. */
export interface SimulateOptions {
  readonly seed: number;
  /** Runs instead of those of seeds. */
  readonly plan: Plan | null;
  readonly schedules: number;
  /** By `now`; null: until all schedules have run. */
  readonly endsAt: number | null;
  readonly isStory: boolean;
  /** Whether a violation ends the run. */
  readonly goesOn: boolean;
  /** Whether the shortest story of a violation is looked for. */
  readonly shrinks: boolean;
  /** The true clock, for speed. */
  readonly now: () => number;
}

/** Runs schedules until one breaks a law, and says so. */
export async function simulate(options: SimulateOptions): Promise<Tally> {
  const { seed, schedules, endsAt, isStory, goesOn, shrinks, now } = options;
  const before = process.cpuUsage();
  const counts: Record<string, number> = {};
  let [done, violations] = [0, 0];
  while (endsAt === null ? done < schedules : now() < endsAt) {
    const plan = options.plan ?? planOf(seed + done);
    const run = await runPlan(plan, isStory);
    done += 1;
    addCounts(counts, run.counts);
    if (isStory) print(run.story);
    if (run.violation === null) continue;
    const { law, how } = run.violation;
    print([`seed ${plan.seed}, schedule ${done}: ${law}`, `  ${how}`, ""]);
    violations += 1;
    if (goesOn) continue;
    if (!shrinks) break;
    const short = await shrink(plan, law);
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
