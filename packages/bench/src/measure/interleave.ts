import type { SideSamples } from "./measurement.js";
import { seededRandom, shuffled } from "./random.js";

/** One way of doing a piece of work, to be timed beside others. */
export interface Contender {
  readonly name: string;
  /**
   * Does the work `calls` times over. Throws when a result is wrong.
   *
   * @returns How long it took in ms where only it can know: without the way to another process and back. Anything but a number is ignored.
   */
  run(calls: number): Promise<unknown>;
  /** Fewest calls in one slice, however long they take; one unless given. */
  readonly minCalls?: number;
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
  /** Calls made before each slice, untimed, as a share of those in it: they bring the side's own rows into the processor's cache. */
  readonly leadIn: number;
}

const CALLS_AT_FIRST = 16;
const SEED = 20_260_701;

/**
 * Times contenders in turn, each round in a random order, so that a machine whose speed drifts drifts for all of them. Before each
 * slice the garbage of the one before is collected where the process allows that (`--expose-gc`): else whoever comes after a
 * wasteful side pays for it.
 *
 * The loop is ours because neither mitata nor tinybench takes turns: both finish one side before they begin the next, and both
 * decide themselves how often they call it, where here every call has to be counted to check what it admitted.
 *
 * @returns Microseconds a call, one sample for each contender and round.
 */
export async function interleave(
  contenders: readonly Contender[],
  { rounds, sliceMs, warmUpMs, leadIn }: Pace,
): Promise<readonly SideSamples[]> {
  const calls: number[] = [];
  for (const contender of contenders) calls.push(await warmUp(contender, sliceMs, warmUpMs));
  const samples = contenders.map((): number[] => []);
  const random = seededRandom(SEED);
  for (let round = 0; round < rounds; round += 1) {
    for (const index of shuffled(contenders.length, random)) {
      const contender = contenders[index] as Contender;
      const count = calls[index] as number;
      collectYoungGarbage();
      const leadInCalls = Math.floor(count * leadIn);
      if (leadInCalls > 0) await contender.run(leadInCalls);
      const elapsedMs = await timed(contender, count);
      samples[index]?.push((elapsedMs * 1_000) / count);
    }
  }
  return contenders.map(({ name }, index) => ({ name, samples: samples[index] ?? [] }));
}

/** Runs a contender until it is warm. @returns How many calls take about a slice. */
async function warmUp(contender: Contender, sliceMs: number, warmUpMs: number): Promise<number> {
  const { minCalls = 1, maxCalls = Number.MAX_SAFE_INTEGER } = contender;
  let calls = Math.min(CALLS_AT_FIRST, maxCalls);
  let spentMs = 0;
  for (;;) {
    const elapsedMs = await timed(contender, calls);
    spentMs += elapsedMs;
    const fitting = Math.ceil((calls * sliceMs) / Math.max(elapsedMs, 0.01));
    // At most doubled: the first calls are the slowest, and say little about the rest.
    calls = Math.max(minCalls, Math.min(fitting, calls * 2, maxCalls));
    if (spentMs >= warmUpMs) return calls;
  }
}

async function timed(contender: Contender, calls: number): Promise<number> {
  const startedAt = performance.now();
  const elapsedMs = await contender.run(calls);
  return typeof elapsedMs === "number" ? elapsedMs : performance.now() - startedAt;
}

/** What lives long is left alone: to look through all of the heap would take longer than a slice. */
function collectYoungGarbage(): void {
  const collect = globalThis.gc as ((options: { type: "minor" }) => void) | undefined;
  collect?.({ type: "minor" });
}
