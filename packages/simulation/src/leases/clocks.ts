import type { World } from "./world.js";
import { CALM_AT } from "./world.js";

/** Readings of both clocks of a process at one moment. */
export interface Moment {
  /** Of the monotonic clock: it is never set, and may stand still while the machine sleeps. */
  readonly steady: number;
  /** Of the wall clock, which may be set. */
  readonly wall: number;
}

/** The clocks of one machine, each with its own error. */
export class Clocks {
  /** How fast they run; 1: as real time. */
  readonly rate: number;
  readonly #world: World;
  readonly #origin: number;
  readonly #offset: number;
  /** When the wall clock is set, and by how much. */
  readonly #stepAt: number;
  readonly #step: number;
  /** When the machine sleeps. */
  readonly sleepsAt: number;
  readonly wakesAt: number;
  #highest = 0;

  constructor(world: World) {
    const { random } = world;
    const drift = world.has("clocks-beyond-the-margin") ? 0.15 : 0.11;
    const slow = 1 - drift;
    this.#world = world;
    this.rate = random.chance(50)
      ? random.pick([slow, 1 + drift])
      : slow + random.fraction() * 2 * drift;
    this.#origin = random.below(1_000_000);
    this.#offset = random.between(-3, 3);
    const sleeps = random.chance(12);
    const isSet = !sleeps && random.chance(12);
    this.sleepsAt = sleeps ? random.between(60, CALM_AT - 160) : Number.POSITIVE_INFINITY;
    this.wakesAt = this.sleepsAt + random.between(5, 155);
    this.#stepAt = isSet ? random.below(500) : Number.POSITIVE_INFINITY;
    this.#step = random.pick([-1, 1]) * random.between(20, 120);
  }

  #slept(): number {
    const { time } = this.#world;
    return time > this.sleepsAt ? Math.min(time, this.wakesAt) - this.sleepsAt : 0;
  }

  read(): Moment {
    const { time } = this.#world;
    const paused = this.#world.has("machine-paused-with-its-clocks") ? this.#slept() : 0;
    const step = time >= this.#stepAt ? this.#step : 0;
    const wall = Math.max(0, Math.floor((time - paused) * this.rate + this.#offset + step));
    return { steady: this.#origin + this.rate * (time - this.#slept()), wall };
  }

  /** The highest wall clock reading so far: decisions use it, and it never goes back. */
  now(): number {
    this.#highest = Math.max(this.#highest, this.read().wall);
    return this.#highest;
  }

  /** Real duration of a span measured by these clocks. */
  truly(span: number): number {
    return span / this.rate;
  }
}
