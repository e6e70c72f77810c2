/** One call that has to be answered in time. */
export interface Deadline {
  readonly tick: number;
  readonly expire: () => void;
  previous: Deadline | null;
  next: Deadline | null;
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
  #first: Deadline | null = null;
  #last: Deadline | null = null;
  #tick = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(spanMs: number) {
    this.spanMs = spanMs;
  }

  /** Has `expire` called when the span is over, unless the deadline is met before. */
  start(expire: () => void): Deadline {
    const deadline: Deadline = { tick: this.#tick, expire, previous: this.#last, next: null };
    if (this.#last === null) this.#first = deadline;
    else this.#last.next = deadline;
    this.#last = deadline;
    this.#timer ??= setInterval(() => this.#look(), Math.max(1, this.spanMs / STEPS)).unref();
    return deadline;
  }

  /** To be called once for each deadline that did not expire. */
  meet(deadline: Deadline): void {
    const { previous, next } = deadline;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
  }

  #look(): void {
    this.#tick += 1;
    // They were started in order, so that the first is the oldest.
    while (this.#first !== null && this.#tick - this.#first.tick > STEPS) {
      const { expire } = this.#first;
      this.meet(this.#first);
      expire();
    }
    if (this.#first !== null) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
