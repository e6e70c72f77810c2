import type { Hold } from "../rules/hold.js";
import type { RecordAddress } from "../store/change.js";
import type { FoundHold, HoldBook } from "../store/settle.js";

/** Where a store keeps its holds. */
export interface HoldRows<Counters> {
  /** All holds, in any order. */
  all(): readonly FoundHold<Counters>[];
  /** Writes a hold, new or not. */
  set(found: FoundHold<Counters>): void;
  delete(id: string): void;
  /** Counters of a record; null for none. */
  counters(of: RecordAddress): Counters | null;
}

/** Methods of a {@link HoldBook} for a small store, which scans all holds each time. Other stores use an index. */
export function plainHoldBook<Counters>(rows: HoldRows<Counters>) {
  const beside = (counters: Counters) =>
    rows
      .all()
      .filter((found) => found.counters.includes(counters))
      .sort(
        ({ hold: one }, { hold: other }) =>
          one.expiresAt - other.expiresAt || (one.id < other.id ? -1 : 1),
      );
  const any = (id: string) => rows.all().find(({ hold }) => hold.id === id) ?? null;
  return {
    find: any,
    put: (hold) => rows.set({ hold, counters: any(hold.id)?.counters ?? [] }),
    attach(hold, place, counters) {
      const known = any(hold.id)?.counters ?? hold.numbers.map(() => null);
      rows.set({ hold, counters: known.map((own, at) => (at === place ? counters : own)) });
    },
    detach({ hold, counters: all }, counters) {
      const left = all.map((own) => (own === counters ? null : own));
      if (left.every((own) => own === null)) rows.delete(hold.id);
      else rows.set({ hold, counters: left });
    },
    remove: (id) => rows.delete(id),
    counters: (of) => rows.counters(of),
    over: (counters, now, limit) =>
      beside(counters)
        .filter(({ hold }) => hold.expiresAt <= now)
        .slice(0, limit),
    oldest(counters) {
      const numbers = beside(counters).map(
        ({ hold, counters: all }) => hold.numbers[all.indexOf(counters)] ?? 0,
      );
      return numbers.length === 0 ? null : Math.min(...numbers);
    },
    /** Result of `KeyStore.holds`. */
    page(of: RecordAddress, after: string | null, limit: number): readonly Hold[] {
      const counters = rows.counters(of);
      return (counters === null ? [] : beside(counters))
        .map(({ hold }) => hold)
        .filter(({ id }) => after === null || id > after)
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .slice(0, limit);
    },
    nextEnd: (counters) => beside(counters)[0]?.hold.expiresAt ?? null,
  } satisfies Partial<HoldBook<Counters>> & { readonly page: unknown };
}
