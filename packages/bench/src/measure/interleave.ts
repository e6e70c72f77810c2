import type { SideSamples } from "./measurement.js";

/** One way of doing a piece of work, to be timed beside others. */
export interface Contender {
  readonly name: string;
  /** Does the work `calls` times over. Throws when a result is wrong. */
  run(calls: number): Promise<void>;
  /** Most calls in one slice; no bound unless given. */
  readonly maxCalls?: number;
}

/** How long to measure. */
export interface Pace {
  /** Timed rounds. */
  readonly rounds: number;
  /** About how long one slice of one contender takes, in ms. */
  readonly sliceMs: number;
  /** How long each contender runs before anything is timed, in ms. */
  readonly warmUpMs: number;
}

const CALLS_AT_FIRST = 16;

/**
 * Times contenders in turn, each round in another order, so that a machine whose speed drifts drifts for all of them.
 *
 * The loop is ours because neither mitata nor tinybench takes turns: both finish one side before they begin the next, and both
 * decide themselves how often they call it, where here every call has to be counted to check what it admitted.
 *
 * @returns Microseconds a call, one sample for each contender and round.
 */
export async function interleave(
  contenders: readonly Contender[],
  { rounds, sliceMs, warmUpMs }: Pace,
): Promise<readonly SideSamples[]> {
  const calls: number[] = [];
  for (const contender of contenders) calls.push(await warmUp(contender, sliceMs, warmUpMs));
  const samples = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const index = (round + turn) % contenders.length;
      const count = calls[index] as number;
      const elapsedMs = await timed(contenders[index] as Contender, count);
      samples[index]?.push((elapsedMs * 1_000) / count);
    }
  }
  return contenders.map(({ name }, index) => ({ name, samples: samples[index] ?? [] }));
}

/** Runs a contender until it is warm. @returns How many calls take about a slice. */
async function warmUp(contender: Contender, sliceMs: number, warmUpMs: number): Promise<number> {
  const { maxCalls = Number.MAX_SAFE_INTEGER } = contender;
  let calls = Math.min(CALLS_AT_FIRST, maxCalls);
  let spentMs = 0;
  for (;;) {
    const elapsedMs = await timed(contender, calls);
    spentMs += elapsedMs;
    const fitting = Math.ceil((calls * sliceMs) / Math.max(elapsedMs, 0.01));
    // At most doubled: the first calls are the slowest, and say little about the rest.
    calls = Math.max(1, Math.min(fitting, calls * 2, maxCalls));
    if (spentMs >= warmUpMs) return calls;
  }
}

async function timed(contender: Contender, calls: number): Promise<number> {
  const startedAt = performance.now();
  await contender.run(calls);
  return performance.now() - startedAt;
}
