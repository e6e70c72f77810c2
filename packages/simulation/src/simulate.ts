import { planOf } from "./plan/plan-of.js";
import { runPlan } from "./run.js";
import { shrink } from "./shrink.js";

/** What to run. */
export interface SimulateOptions {
  readonly seed: number;
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

/** Runs schedules until one breaks a law, and prints what was done. @returns The exit status. */
export async function simulate(options: SimulateOptions): Promise<number> {
  const { seed, schedules, endsAt, isStory, goesOn, shrinks, now } = options;
  const startedAt = now();
  const counts: Record<string, number> = {};
  let done = 0;
  let violations = 0;
  for (; endsAt === null ? done < schedules : now() < endsAt; done += 1) {
    const plan = planOf(seed + done);
    const run = await runPlan(plan, isStory);
    for (const [name, count] of Object.entries(run.counts))
      counts[name] = (counts[name] ?? 0) + count;
    if (isStory) print(run.story);
    if (run.violation === null) continue;
    const { law, how } = run.violation;
    print([`seed ${plan.seed}, schedule ${done + 1}: ${law}`, `  ${how}`, ""]);
    violations += 1;
    if (goesOn) continue;
    if (!shrinks) return 1;
    const short = await shrink(plan, law);
    print(["the shortest story that was found:", ...setting(short.plan), ...short.run.story]);
    print([`  ${short.run.violation?.how ?? how}`, `again: --seed ${plan.seed} --story`]);
    return 1;
  }
  const seconds = (now() - startedAt) / 1_000;
  for (const name of Object.keys(counts).sort())
    print([`${String(counts[name]).padStart(10)}  ${name}`]);
  print([
    `${done} schedules from seed ${seed}, ${violations} violations, ${Math.round(done / seconds)} a second`,
  ]);
  return violations === 0 ? 0 : 1;
}

function setting({
  network,
  processes,
  clockOffsets,
  keys,
  workspaces,
}: ReturnType<typeof planOf>) {
  return [
    `  ${processes} processes, network ${network}, clocks off by ${clockOffsets.join(", ")} ms`,
    `  workspaces ${JSON.stringify(workspaces)}`,
    ...keys.map((key, index) => `  k${index} ${JSON.stringify(key)}`),
  ];
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
