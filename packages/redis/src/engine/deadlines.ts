/** One call that has to be answered in time. */
export interface Deadline {
  readonly tick: number;
  readonly expire: () => void;
}

/** How many times within the span the timer looks: a call expires up to one such step late. */
const STEPS = 8;

/**
 * Deadlines of one span, with one timer for all. A timer for each call would cost more than the rest of what latchkey
 * does for a verification, and nearly all of them would be taken back.
 */
export class Deadlines {
  /** In ms. */
  readonly spanMs: number;
  /** In the order in which they were started: the first is the oldest. */
  readonly #open = new Set<Deadline>();
  #tick = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(spanMs: number) {
    this.spanMs = spanMs;
  }

  /** Has `expire` called when the span is over, unless the deadline is met before. */
  start(expire: () => void): Deadline {
    const deadline: Deadline = { tick: this.#tick, expire };
    this.#open.add(deadline);
    this.#timer ??= setInterval(() => this.#look(), Math.max(1, this.spanMs / STEPS)).unref();
    return deadline;
  }

  /** Ends a deadline, expired or not. */
  meet(deadline: Deadline): void {
    this.#open.delete(deadline);
  }

  #look(): void {
    this.#tick += 1;
    for (const deadline of this.#open) {
      if (this.#tick - deadline.tick <= STEPS) return;
      this.meet(deadline);
      deadline.expire();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
