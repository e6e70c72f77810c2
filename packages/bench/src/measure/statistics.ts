/** Quartiles of some samples, in their unit. */
export interface Quartiles {
  readonly p25: number;
  readonly median: number;
  readonly p75: number;
}

/** The quartiles of at least one sample, each interpolated between its neighbours. @throws RangeError without samples. */
export function quartiles(samples: readonly number[]): Quartiles {
  if (samples.length === 0) throw new RangeError("no samples");
  const sorted = [...samples].sort((left, right) => left - right);
  const at = (share: number) => {
    const position = (sorted.length - 1) * share;
    const below = sorted[Math.floor(position)] as number;
    const above = sorted[Math.ceil(position)] as number;
    return below + (above - below) * (position - Math.floor(position));
  };
  return { p25: at(0.25), median: at(0.5), p75: at(0.75) };
}

/**
 * Quartiles of the ratio of one side to another, taken round by round: both sides of a round were timed directly after each other, so a
 * slowdown of the machine affects both. Rounds that only one side has are left out.
 */
export function ratios(side: readonly number[], base: readonly number[]): Quartiles {
  const rounds = Math.min(side.length, base.length);
  return quartiles(side.slice(0, rounds).map((sample, round) => sample / (base[round] as number)));
}
