/** Returns numbers from 0 up to, but not including, 1. */
export type Random = () => number;

/** A small generator (mulberry32): the same seed gives the same numbers. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Whole numbers below `size`, all equally likely. */
export function uniform(size: number, random: Random): () => number {
  return () => Math.floor(random() * size);
}

/**
 * Whole numbers below `size`, where the k-th commonest is 1/k as likely as the commonest. The common numbers are spread over the range, so
 * that frequently used keys are not stored next to each other.
 */
export function zipf(size: number, random: Random): () => number {
  const sums = new Float64Array(size);
  let total = 0;
  for (let rank = 0; rank < size; rank += 1) {
    total += 1 / (rank + 1);
    sums[rank] = total;
  }
  const places = shuffled(size, random);
  return () => {
    const wanted = random() * total;
    let low = 0;
    let high = size - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return places[low] as number;
  };
}

/** The whole numbers below `size` in random order. */
export function shuffled(size: number, random: Random): Uint32Array {
  const numbers = Uint32Array.from({ length: size }, (_, index) => index);
  for (let last = size - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const held = numbers[last] as number;
    numbers[last] = numbers[other] as number;
    numbers[other] = held;
  }
  return numbers;
}
