import type { PageWant } from "@latchkey/core";
import { mapIn } from "./entry-of.js";

/** Most ids of one chunk: entering or leaving moves at most this many. */
const CHUNK_SIZE = 512;

/** Ids are of ASCII characters. */
const ABOVE_ALL = "\u{80}";

/** Answers whether to go on. */
type Visit = (id: string) => boolean;

/** The lists of a workspace: under each name the list itself (`of` undefined), and the small ones beside it. */
export class Lists {
  /** A list of one id is that id: most small lists never have a second, and there are as many of them as records. */
  readonly #lists = new Map<string, Map<string | undefined, string | SortedIds>>();

  sizeOf(list: string): number {
    const ids = this.#lists.get(list)?.get(undefined);
    return typeof ids === "object" ? ids.size : Number(ids !== undefined);
  }

  /** Visits the wanted ids in their order, until a visit answers false. */
  walk({ list, of, after, descending = false }: PageWant, visit: Visit): void {
    const ids = this.#lists.get(list)?.get(of) ?? [];
    const sorted = ids instanceof SortedIds ? ids : new SortedIds([ids].flat());
    sorted.walk(after, descending, visit);
  }

  enter(list: string, of: string | undefined, id: string): void {
    const lists = mapIn(this.#lists, list);
    const ids = lists.get(of);
    if (ids === undefined || ids === id) lists.set(of, id);
    else if (typeof ids === "string") lists.set(of, new SortedIds([ids, id].sort()));
    else ids.add(id);
  }

  leave(list: string, of: string | undefined, id: string): void {
    const lists = this.#lists.get(list);
    const ids = lists?.get(of);
    if (typeof ids === "object") ids.remove(id);
    if (ids === id || (typeof ids === "object" && ids.size === 0)) lists?.delete(of);
  }
}

/**
 * A set of ids in ascending order, whatever the order they are added in.
 *
 * Kept in chunks rather than in one array: taking an id out of the middle of one array of a million moves half a million
 * others. Adding, removing and finding a place cost two binary searches and at most one chunk, of which there always is one.
 */
export class SortedIds {
  readonly #chunks: string[][];
  size: number;

  /** @param ids - The first ones: at most a chunk, in ascending order. */
  constructor(ids: string[]) {
    this.#chunks = [ids];
    this.size = ids.length;
  }

  /** Adds an id; one that is there already stays there once. */
  add(id: string): void {
    const at = this.#chunkOf(id);
    const chunk = this.#chunks[at] as string[];
    const place = placeOf(chunk, id);
    if (chunk[place] === id) return;
    this.size += 1;
    chunk.splice(place, 0, id);
    if (chunk.length <= CHUNK_SIZE) return;
    // Ids are created in ascending order: a full chunk that is added to at its end stays full.
    const rest = chunk.splice(place === CHUNK_SIZE ? place : CHUNK_SIZE / 2);
    this.#chunks.splice(at + 1, 0, rest);
  }

  remove(id: string): void {
    const at = this.#chunkOf(id);
    const chunk = this.#chunks[at] as string[];
    const place = placeOf(chunk, id);
    if (chunk[place] !== id) return;
    this.size -= 1;
    chunk.splice(place, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  /** Visits the ids above one, below it in descending order, or all of them. The set must not change meanwhile. */
  walk(after: string | null, descending: boolean, visit: Visit): void {
    const from = after ?? (descending ? ABOVE_ALL : "");
    const step = descending ? -1 : 1;
    for (let at = this.#chunkOf(from); this.#chunks[at] !== undefined; at += step) {
      const chunk = this.#chunks[at] as string[];
      let place = placeOf(chunk, from);
      if (descending || chunk[place] === from) place += step;
      for (; place >= 0 && place < chunk.length; place += step)
        if (!visit(chunk[place] as string)) return;
    }
  }

  /** The last chunk that starts at or below the id: the only one that can hold it. The first, if there is none. */
  #chunkOf(id: string): number {
    const isAtOrBelow = (at: number) => (this.#chunks[at]?.[0] as string) <= id;
    return Math.max(0, firstWithout(isAtOrBelow, this.#chunks.length) - 1);
  }
}

/** Where an id stands in ascending order, or would. */
function placeOf(ids: readonly string[], id: string): number {
  return firstWithout((place) => (ids[place] as string) < id, ids.length);
}

/** The first of the numbers below `end` that something does not hold for; it holds for all before, and for none after. */
function firstWithout(holds: (place: number) => boolean, end: number): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
