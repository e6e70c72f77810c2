import type { SideSamples } from "./measurement.js";
import { seededRandom, shuffled } from "./random.js";

/** One way to do some work, to be timed against others. */
export interface Contender {
  readonly name: string;
  /**
   * Does the work `calls` times. Throws if a result is wrong.
   *
   * @returns The time taken, in ms, if the contender measures it itself, for example without the messages to another process. Any other
   * value is ignored.
   */
  run(calls: number): Promise<unknown>;
  /** Fewest calls in one slice, however long they take; default: 1. */
  readonly minCalls?: number;
  /** Most calls in one slice; default: no bound. */
  readonly maxCalls?: number;
}

/** How long to measure. */
export interface Pace {
  /** Timed rounds. */
  readonly rounds: number;
  /** Approximate length of one slice of one contender, in ms. */
  readonly sliceMs: number;
  /** How long each contender runs before anything is timed, in ms. */
  readonly warmUpMs: number;
  /** Untimed calls before each slice, as a share of the calls in it. They bring the side's own rows into the processor's cache. */
  readonly leadIn: number;
}

const CALLS_AT_FIRST = 16;
const SEED = 20_260_701;

/**
 * Times contenders in turn, each round in a random order, so that a drift in the machine's speed affects all of them. Before each slice,
 * the garbage of the one before is collected, if the process allows that (`--expose-gc`); otherwise the next side would pay for it.
 *
 * mitata and tinybench do not fit: both finish one side before they begin the next, and decide themselves how often to call it. Here every
 * call must be counted, to check the number of admissions.
 *
 * @returns Microseconds per call, one sample for each contender and round.
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

/** Warms a contender up. @returns How many calls take about one slice. */
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

/** Only the young generation: a full collection would take longer than a slice. */
function collectYoungGarbage(): void {
  const collect = globalThis.gc as ((options: { type: "minor" }) => void) | undefined;
  collect?.({ type: "minor" });
}
