/** An event of a process, or of the world if `owner` is null. */
interface Event<Owner> {
  readonly time: number;
  /** Events of one instant run in the order in which they were added. */
  readonly order: number;
  readonly owner: Owner | null;
  readonly run: () => void;
}

/** Events to come, ordered by time. A binary heap, because a schedule has hundreds of events, and a run millions of schedules. */
export class Events<Owner> {
  readonly #heap: Event<Owner>[] = [];
  #added = 0;

  add(time: number, owner: Owner | null, run: () => void): void {
    const heap = this.#heap;
    const event = { time, order: this.#added, owner, run };
    this.#added += 1;
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Event<Owner>;
      if (isBefore(above, event)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = event;
  }

  /** Takes the first event up to an instant; null: there is none. */
  next(until: number): Event<Owner> | null {
    const heap = this.#heap;
    const [first] = heap;
    if (first === undefined || first.time > until) return null;
    const last = heap.pop() as Event<Owner>;
    if (heap.length > 0) this.#sink(last);
    return first;
  }

  /** Puts an event at the root, and moves it down to its place. */
  #sink(event: Event<Owner>): void {
    const heap = this.#heap;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Event<Owner>)) child += 1;
      const below = heap[child];
      if (below === undefined || isBefore(event, below)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = event;
  }
}

function isBefore(one: Event<unknown>, other: Event<unknown>): boolean {
  return one.time < other.time || (one.time === other.time && one.order < other.order);
}
