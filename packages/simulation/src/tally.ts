/** Results of a number of schedules. */
export interface Tally {
  readonly done: number;
  readonly violations: number;
  /** How often each thing happened. */
  readonly counts: Readonly<Record<string, number>>;
  /** Processor time, in s. */
  readonly seconds: number;
}

/** Adds up the tallies of several processes. */
export function sum(tallies: readonly Tally[]): Tally {
  const counts: Record<string, number> = {};
  const all = { done: 0, violations: 0, counts, seconds: 0 };
  for (const tally of tallies) {
    all.done += tally.done;
    all.violations += tally.violations;
    all.seconds += tally.seconds;
    addCounts(counts, tally.counts);
  }
  return all;
}

/** Prints how often each thing happened, and the speed. */
export function printTally({ done, violations, counts, seconds }: Tally, seed: number): void {
  print(
    Object.keys(counts)
      .sort()
      .map((name) => `${String(counts[name]).padStart(10)}  ${name}`),
  );
  const speed = `${Math.round(done / seconds)} a second of a processor`;
  print([`${done} schedules from seed ${seed}, ${violations} violations, ${speed}`]);
}

/** Adds `more` to `counts`. */
export function addCounts(counts: Record<string, number>, more: Tally["counts"]): void {
  for (const [name, count] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + count;
}

/** Prints lines. */
export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
