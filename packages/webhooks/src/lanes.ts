import type { DeliveryState } from "@latchkey/core";

/** A part of the log that was read, and is passed when none of its events is open. */
export interface LogPart {
  /** Behind its last event. */
  readonly cursor: string;
  open: number;
}

/** An event that is sent to an endpoint. */
export interface Item {
  readonly eventId: string;
  readonly number: number;
  /** What it is about. */
  readonly lane: string;
  /** As it is stored; null: it was not refused so far. */
  delivery: DeliveryState | null;
  /** Where it was read, until it was taken or stored. */
  part: LogPart | null;
}

/** What is to be sent to an endpoint: of events about the same, one at a time in the order of the log. */
export class Lanes {
  readonly #lanes = new Map<string, Item[]>();
  readonly #known = new Set<string>();
  readonly #busy = new Set<Item>();
  /** Those that are not stored. */
  readonly #fresh = new Set<Item>();

  /** How many there are. */
  get size(): number {
    return this.#known.size;
  }

  /** How many are being sent. */
  get sending(): number {
    return this.#busy.size;
  }

  has(eventId: string): boolean {
    return this.#known.has(eventId);
  }

  /** Adds one where it belongs in its lane, but not before one that is being sent. */
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

  /** The first of each lane, but for those that are being sent. */
  *heads(): Generator<Item> {
    for (const [head] of this.#lanes.values())
      if (head !== undefined && !this.#busy.has(head)) yield head;
  }

  /** Those that are not stored, and wait behind one that is. */
  blocked(): Item[] {
    return [...this.#fresh].filter((item) => {
      const head = this.#lanes.get(item.lane)?.[0];
      return head !== item && head !== undefined && head.delivery !== null;
    });
  }

  /** Says that one is stored. @param delivery - As what. */
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
