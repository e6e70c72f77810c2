import type { DeliveryState, EpochMs } from "@latchkey/core";

/** A part of the log that was read. The endpoint's position moves past it when none of its events is open. */
export interface LogPart {
  /** The position after its last event. */
  cursor: string;
  /** Number of its events that were to be sent. */
  size: number;
  /** Number of its events that are neither delivered nor stored. */
  open: number;
}

/** An event to send to an endpoint. */
export interface Item {
  readonly eventId: string;
  readonly number: number;
  /** Id of the key or other object that the event is about. */
  readonly lane: string;
  /** As stored; null if it has not been refused yet. */
  delivery: DeliveryState | null;
  /** The part of the log that it was read from; null once it is delivered or stored. */
  part: LogPart | null;
}

/** The events to send to one endpoint. Each object has a lane: its events are sent one at a time, in the order of the log. */
export class Lanes {
  readonly #lanes = new Map<string, Item[]>();
  readonly #known = new Set<string>();
  readonly #busy = new Set<Item>();
  /** Events that are not stored. */
  readonly #fresh = new Set<Item>();

  /** Number of events. */
  get size(): number {
    return this.#known.size;
  }

  /** Number of events being sent. */
  get sending(): number {
    return this.#busy.size;
  }

  has(eventId: string): boolean {
    return this.#known.has(eventId);
  }

  /** Adds an event at its place in its lane, but never before one that is being sent. */
  add(item: Item): void {
    const lane = this.#lanes.get(item.lane) ?? [];
    let at = lane.length;
    for (; at > 0; at -= 1) {
      const before = lane[at - 1] as Item;
      if (this.#busy.has(before) || isEarlier(before, item)) break;
    }
    lane.splice(at, 0, item);
    this.#lanes.set(item.lane, lane);
    this.#known.add(item.eventId);
    if (item.delivery === null) this.#fresh.add(item);
  }

  /** Starts the retry time of stored events that were never sent and do not wait behind one that was refused. */
  beginTime(now: EpochMs): void {
    for (const lane of this.#lanes.values())
      if (lane[0]?.delivery?.tries === 0)
        for (const item of lane)
          if (item.delivery?.tries === 0) item.delivery = { ...item.delivery, since: now };
  }

  /** The first event of each lane, except those being sent. */
  *heads(): Generator<Item> {
    for (const [head] of this.#lanes.values())
      if (head !== undefined && !this.#busy.has(head)) yield head;
  }

  /** Events that are not stored. */
  fresh(): Item[] {
    return [...this.#fresh];
  }

  /** Events that are not stored and wait behind a stored one. */
  blocked(): Item[] {
    return this.fresh().filter((item) => {
      const head = this.#lanes.get(item.lane)?.[0];
      return head !== item && head !== undefined && head.delivery !== null;
    });
  }

  /**
   * Marks an event as stored.
   *
   * @param delivery - What was stored.
   */
  store(item: Item, delivery: DeliveryState): void {
    item.delivery = delivery;
    this.#fresh.delete(item);
  }

  begin(item: Item): void {
    this.#busy.add(item);
  }

  end(item: Item): void {
    this.#busy.delete(item);
  }

  remove(item: Item): void {
    const lane = this.#lanes.get(item.lane) ?? [];
    lane.splice(lane.indexOf(item), 1);
    if (lane.length === 0) this.#lanes.delete(item.lane);
    this.#known.delete(item.eventId);
    this.#busy.delete(item);
    this.#fresh.delete(item);
  }
}

function isEarlier(one: Item, other: Item): boolean {
  return one.number === other.number ? one.eventId < other.eventId : one.number < other.number;
}
