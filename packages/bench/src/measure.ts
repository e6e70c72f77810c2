/** One way of doing a piece of work, to be timed beside others. */
export interface Contender {
  readonly name: string;
  /** Does the work `rounds` times over; answers nothing, and throws when a result is wrong. */
  run(rounds: number): Promise<void>;
}

/** What one contender took for one call: the median of all rounds, in nanoseconds. */
export interface Timing {
  readonly name: string;
  readonly medianNs: number;
}

/**
 * Times contenders in turn, A B A B …, so that a machine whose speed drifts drifts for all of them. Only the ratios
 * of what comes back mean anything on another machine.
 *
 * @param callsPerRound - Calls of the work in each timed round.
 * @param rounds - Timed rounds of each contender, after a quarter as many that do not count.
 */
export async function timeInTurn(
  contenders: readonly Contender[],
  callsPerRound: number,
  rounds: number,
): Promise<readonly Timing[]> {
  const samples = contenders.map((): number[] => []);
  const warmUps = Math.ceil(rounds / 4);
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const startedAt = process.hrtime.bigint();
      await contender.run(callsPerRound);
      const elapsed = Number(process.hrtime.bigint() - startedAt) / callsPerRound;
      if (round >= warmUps) samples[index]?.push(elapsed);
    }
  }
  return contenders.map(({ name }, index) => ({ name, medianNs: median(samples[index] ?? []) }));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
