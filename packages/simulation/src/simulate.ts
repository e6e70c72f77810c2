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

/** What was done. */
export interface Tally {
  readonly done: number;
  readonly violations: number;
  /** How often each thing happened. */
  readonly counts: Readonly<Record<string, number>>;
  /** Time of the processor, in s. */
  readonly seconds: number;
}

/** Runs schedules until one breaks a law, and says so. */
export async function simulate(options: SimulateOptions): Promise<Tally> {
  const { seed, schedules, endsAt, isStory, goesOn, shrinks, now } = options;
  const before = process.cpuUsage();
  const counts: Record<string, number> = {};
  let [done, violations] = [0, 0];
  while (endsAt === null ? done < schedules : now() < endsAt) {
    const plan = planOf(seed + done);
    const run = await runPlan(plan, isStory);
    done += 1;
    add(counts, run.counts);
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

/** Puts what several processes did together. */
export function sum(tallies: readonly Tally[]): Tally {
  const counts: Record<string, number> = {};
  const all = { done: 0, violations: 0, counts, seconds: 0 };
  for (const tally of tallies) {
    all.done += tally.done;
    all.violations += tally.violations;
    all.seconds += tally.seconds;
    add(counts, tally.counts);
  }
  return all;
}

/** Says what was done how often. */
export function printTally({ done, violations, counts, seconds }: Tally, seed: number): void {
  print(
    Object.keys(counts)
      .sort()
      .map((name) => `${String(counts[name]).padStart(10)}  ${name}`),
  );
  const speed = `${Math.round(done / seconds)} a second of a processor`;
  print([`${done} schedules from seed ${seed}, ${violations} violations, ${speed}`]);
}

function add(counts: Record<string, number>, more: Tally["counts"]): void {
  for (const [name, count] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + count;
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
