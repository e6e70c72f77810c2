import type { Random } from "../random.js";

/** The figures of a limit; without `algorithm`, it counts in fixed windows. */
export interface Figures {
  readonly limit: number;
  readonly duration: number;
  readonly algorithm?: "sliding" | "token-bucket";
  /** Of a bucket. */
  readonly burst?: number | undefined;
  readonly shadow?: boolean;
}

/** How a limit counts. */
export function algorithmOf(random: Random): Pick<Figures, "algorithm" | "burst" | "shadow"> {
  const algorithm = random.pick(["fixed", "sliding", "token-bucket"]);
  return {
    ...(algorithm !== "fixed" && { algorithm }),
    ...(algorithm === "token-bucket" && random.chance(50) && { burst: random.between(1, 4) }),
    ...(random.chance(15) && { shadow: true }),
  };
}

/** A limit so small that it is soon used up, mostly over a time so short that its end is in the schedule. */
export function figuresOf(random: Random): Figures {
  const duration = random.pick([20, 1_000, 1_000, 60_000]);
  return { limit: random.between(1, 3), duration, ...algorithmOf(random) };
}

/** Whether a request is asked again when it fits, or when what it reserved expires, and how many ms before or after that. */
export function sometimesAgain(random: Random): { readonly againBy?: number } {
  return random.chance(75) ? { againBy: random.pick([-1, 0, 0, 1]) } : {};
}

/** What a request takes from the limit named `default`; absent: 1. */
export function sometimesUnits(random: Random): { readonly units?: number } {
  return random.chance(30) ? { units: random.pick([0, 1, 2, 2, 3]) } : {};
}
