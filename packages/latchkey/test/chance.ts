/** Random draws from a seed. A failure can be reproduced with the seed in its title. */
export interface Chance {
  /** A whole number from 0 up to, and not including, `end`. */
  below(end: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** @see https://prng.di.unimi.it/splitmix64.c, with the constants of its 32-bit variant. */
export function chanceOf(seed: number): Chance {
  let state = seed;
  const below = (end: number) => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return Math.floor((((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32) * end);
  };
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new TypeError("nothing to pick from");
      return item;
    },
  };
}

/** The seeds 1, 2, 3 and so on. */
export const seedsOf = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => at + 1);
