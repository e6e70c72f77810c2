import {
  deepFrozen,
  type EpochMs,
  type FoundHold,
  type Hold,
  type HoldBook,
  KEPT_AFTER_END_MS,
  type LimitState,
  type RecordAddress,
  type RememberedEnd,
} from "@latchkey/core";
import type { Counters } from "./counters.js";
import { ExpiringMap } from "./expiring-map.js";
import { HoldsBeside } from "./holds-beside.js";

type Found = FoundHold<Counters>;

/** Finds the counters of records, and windows without an owner. */
interface Held {
  counters(of: RecordAddress): Counters | null;
  readonly windows: ExpiringMap<LimitState>;
}

/** The holds of a workspace, beside its counters. */
export class Holds implements HoldBook<Counters> {
  readonly #byId = new Map<string, Found>();
  readonly #ends = new ExpiringMap<RememberedEnd>(Date.now);
  readonly #held: Held;
  #now: EpochMs = 0;

  constructor(held: Held) {
    this.#held = held;
  }

  /** The hold book of a step at `now`. */
  at(now: EpochMs): HoldBook<Counters> {
    this.#now = now;
    return this;
  }

  find(id: string): Found | null {
    return this.#byId.get(id) ?? null;
  }

  remembered(id: string): RememberedEnd | null {
    return this.#ends.get(id);
  }

  remember(id: string, end: RememberedEnd): void {
    this.#ends.set(id, end, end.until, this.#now);
  }

  put(hold: Hold): void {
    this.set({ hold, counters: this.#byId.get(hold.id)?.counters ?? [] });
  }

  set(found: Found): void {
    this.remove(found.hold.id);
    this.#byId.set(found.hold.id, found);
    for (const counters of found.counters)
      if (counters !== null) {
        counters.beside ??= new HoldsBeside();
        counters.beside.add(found);
      }
  }

  attach(hold: Hold, place: number, counters: Counters): void {
    const known = this.#byId.get(hold.id)?.counters ?? hold.numbers.map(() => null);
    const all = known.map((own, at) => (at === place ? counters : own));
    this.set({ hold: deepFrozen(hold), counters: all });
  }

  detach({ hold, counters: all }: Found, counters: Counters): void {
    this.remove(hold.id);
    const left = all.map((own) => (own === counters ? null : own));
    if (left.some((own) => own !== null)) this.set({ hold, counters: left });
  }

  remove(id: string): void {
    const found = this.#byId.get(id);
    if (found === undefined) return;
    this.#byId.delete(id);
    for (const counters of found.counters)
      if (counters?.beside?.delete(found.hold)) counters.beside = null;
  }

  /** Removes deleted counters from their holds. What such a hold took from other counters is returned when it expires. */
  forget(counters: Counters): void {
    for (const found of [...(counters.beside?.all() ?? [])]) this.detach(found, counters);
  }

  /** The result of `KeyStore.holds`. */
  page(of: RecordAddress, after: string | null, limit: number): readonly Hold[] {
    return Array.from(this.counters(of)?.beside?.all() ?? [], ({ hold }) => deepFrozen(hold))
      .filter(({ id }) => after === null || id > after)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .slice(0, limit);
  }

  counters(of: RecordAddress): Counters | null {
    return this.#held.counters(of);
  }

  over({ beside }: Counters, until: EpochMs, limit: number): readonly Found[] {
    return beside?.over(until, limit) ?? [];
  }

  oldest(counters: Counters): number | null {
    let oldest: number | null = null;
    for (const { hold, counters: all } of counters.beside?.all() ?? [])
      oldest = Math.min(
        oldest ?? Number.MAX_SAFE_INTEGER,
        hold.numbers[all.indexOf(counters)] ?? 0,
      );
    return oldest;
  }

  nextEnd(counters: Counters): EpochMs | null {
    return this.over(counters, Number.MAX_SAFE_INTEGER, 1)[0]?.hold.expiresAt ?? null;
  }

  usage(counters: Counters) {
    return counters.usage();
  }

  setUsage(counters: Counters, usage: Parameters<Counters["setUsage"]>[0]): void {
    counters.setUsage(usage);
  }

  window(counters: Counters | null, name: string): LimitState | null {
    return (counters ?? this.#held.windows).get(name);
  }

  setWindow(counters: Counters | null, name: string, state: LimitState, endsAt: EpochMs): void {
    if (counters !== null) counters.set(name, state);
    else this.#held.windows.set(name, state, endsAt + KEPT_AFTER_END_MS, this.#now);
  }
}
