import {
  type EpochMs,
  type FoundHold,
  type Hold,
  type HoldBook,
  KEPT_AFTER_END_MS,
  type RecordAddress,
  type RememberedEnd,
  type Usage,
} from "@latchkey/core";
import type { Counters } from "./counters.js";
import { ExpiringMap } from "./expiring-map.js";
import { Lists } from "./lists.js";
import type { Workspace } from "./workspace.js";

type Found = FoundHold<Counters>;

/** Digits of an instant, so that its text is in the order of time. */
const INSTANT_DIGITS = 16;

/** The holds of a workspace, beside its counters. */
export class Holds {
  readonly #byId = new Map<string, Found>();
  readonly #ends = new ExpiringMap<RememberedEnd>(Date.now);
  /** Of each counters, by their number: ids, and ids behind the instants of their ends. */
  readonly #lists = new Lists();

  /** What a step is given. */
  book(workspace: Workspace, now: EpochMs): HoldBook<Counters> {
    return {
      find: (id) => {
        const found = this.#byId.get(id);
        return found === undefined || isGone(found.counters[0]) ? null : found;
      },
      remembered: (id) => this.#ends.get(id),
      remember: (id, end) => this.#ends.set(id, end, end.until, now),
      put: (hold) => this.put({ hold, counters: this.#byId.get(hold.id)?.counters ?? [] }),
      attach: (hold, place, counters) => {
        const beside = [...(this.#byId.get(hold.id)?.counters ?? [])];
        if (hold.identityId !== null) beside[1] ??= null;
        beside[0] ??= null;
        beside[place] = counters;
        this.put({ hold, counters: beside });
      },
      detach: (found, counters) => this.#detach(found, counters),
      remove: (id) => this.remove(id),
      counters: ({ kind, id }: RecordAddress) => workspace.row(kind, id)?.counters ?? null,
      over: (counters, until, limit) => this.#over(counters, until, limit),
      oldest: (counters) => this.#oldest(counters),
      nextEnd: (counters) =>
        this.#over(counters, Number.MAX_SAFE_INTEGER, 1)[0]?.hold.expiresAt ?? null,
      usage: (counters) => counters.usage(),
      setUsage: (counters: Counters, usage: Usage) => counters.setUsage(usage),
      window: (counters, name) => (counters ?? workspace.windows).get(name),
      setWindow: (counters, name, state, endsAt) => {
        if (counters !== null) counters.set(name, state);
        else workspace.windows.set(name, state, endsAt + KEPT_AFTER_END_MS, now);
      },
    };
  }

  put({ hold, counters }: Found): void {
    this.remove(hold.id);
    this.#byId.set(hold.id, { hold, counters });
    for (const each of counters)
      if (each !== null)
        for (const [list, id] of entriesOf(hold)) this.#lists.enter(list, each.name, id);
  }

  remove(id: string): void {
    const found = this.#byId.get(id);
    this.#byId.delete(id);
    for (const counters of found?.counters ?? [])
      if (counters !== null && found !== undefined)
        for (const [list, entry] of entriesOf(found.hold))
          this.#lists.leave(list, counters.name, entry);
  }

  /** Forgets what is beside counters that are gone. What such a hold took from others comes back when its time has passed. */
  forget(counters: Counters): void {
    for (const found of this.beside(counters, null, Number.MAX_SAFE_INTEGER))
      this.#detach(found, counters);
  }

  #detach({ hold, counters: all }: Found, counters: Counters): void {
    this.remove(hold.id);
    const left = all.map((each) => (each === counters ? null : each));
    if (left.some((each) => each !== null)) this.put({ hold, counters: left });
  }

  /** In ascending order of id, those above `after`. */
  beside(counters: Counters, after: string | null, limit: number): readonly Found[] {
    return this.#walk("id", counters, after, limit, (id) => id);
  }

  #over(counters: Counters, until: EpochMs, limit: number): readonly Found[] {
    const found = this.#walk("end", counters, null, limit, (entry) => entry.slice(INSTANT_DIGITS));
    return found.filter(({ hold }) => hold.expiresAt <= until);
  }

  #oldest(counters: Counters): number | null {
    const numbers = this.beside(counters, null, Number.MAX_SAFE_INTEGER).map(
      ({ hold, counters: all }) => hold.numbers[all.indexOf(counters)] ?? 0,
    );
    return numbers.length === 0 ? null : Math.min(...numbers);
  }

  #walk(
    list: "id" | "end",
    { name: of }: Counters,
    after: string | null,
    limit: number,
    idOf: (entry: string) => string,
  ): readonly Found[] {
    const found: Found[] = [];
    const want = { kind: "key", list, of, after, limit } as const;
    for (const [entry] of this.#lists.walk(want)) {
      if (found.length === limit) break;
      const held = this.#byId.get(idOf(entry));
      if (held !== undefined) found.push(held);
    }
    return found;
  }
}

function entriesOf({ id, expiresAt }: Hold) {
  const end = String(expiresAt).padStart(INSTANT_DIGITS, "0");
  return [
    ["id", id],
    ["end", end + id],
  ] as const;
}

function isGone(counters: Counters | null | undefined): boolean {
  return counters === null || counters === undefined;
}
