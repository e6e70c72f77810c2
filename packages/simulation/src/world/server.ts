import type {
  Change,
  ChargeMoment,
  ChargePlan,
  ChargeResult,
  KeyStore,
  LoadedRecord,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";

/** The methods of a store that a process calls over the network. */
export type Method = Exclude<keyof KeyStore, "close" | "readClock">;

/** One write that the store has carried out. */
export interface Write {
  readonly method: Method;
  readonly args: readonly unknown[];
  readonly result: unknown;
  /** The true time. */
  readonly at: number;
  /** Place of the write in the order of all that happens. */
  readonly tick: number;
}

/** Says what is wrong with a step of the store, or null. */
export type ServerLaw = (server: StoreServer, write: Write) => Promise<string | null>;

const WRITES: ReadonlySet<Method> = new Set([
  "commit",
  "charge",
  "addStatistics",
  "deleteStatistics",
]);

/** The one store of a world: the memory store, and the history of what was written to it, so that it can lose the end of it. */
export class StoreServer {
  #store = memoryStore();
  readonly #tick: () => number;
  readonly #now: () => number;
  /** Everything that was written and not lost. */
  writes: Write[] = [];
  /** Until when it answers nobody. */
  downUntil = 0;
  /** The first law that a step of the store broke. */
  broken: string | null = null;
  readonly #laws: readonly ServerLaw[];

  constructor(now: () => number, tick: () => number, laws: readonly ServerLaw[]) {
    this.#now = now;
    this.#tick = tick;
    this.#laws = laws;
  }

  get isDown(): boolean {
    return this.#now() < this.downUntil;
  }

  /** Carries a call out that came over the network: nothing of the store's own travels. */
  async call(method: Method, args: readonly unknown[]): Promise<unknown> {
    const sent = unshared(method, args);
    const result = withoutHandles(await invoke(this.#store, method, sent));
    if (!WRITES.has(method)) return result;
    const write: Write = { method, args: sent, result, at: this.#now(), tick: this.#tick() };
    if (hasWritten(write)) this.writes.push(write);
    for (const law of this.#laws) this.broken ??= await law(this, write);
    return result;
  }

  /** Carries a call out in the process of the caller, who gets what the store answers: at once, where it does. */
  callAtOnce(method: Method, args: readonly unknown[]): unknown {
    const result = invoke(this.#store, method, args);
    if (!WRITES.has(method)) return result;
    const note = (known: unknown): void => {
      const write: Write = { method, args, result: known, at: this.#now(), tick: this.#tick() };
      if (hasWritten(write)) this.writes.push(write);
    };
    if (result instanceof Promise) result.then(note, () => undefined);
    else note(result);
    return result;
  }

  /** What a charge would come to now; nothing moves. */
  async peek(plan: ChargePlan, moment: ChargeMoment): Promise<ChargeResult> {
    const looked: ChargePlan = { ...plan, mode: "peek", memo: undefined };
    return await this.#store.charge(looked, { now: moment.now, refill: moment.refill });
  }

  /** The store as it is, for looking into it without the network. */
  get store(): KeyStore {
    return this.#store;
  }

  /**
   * Loses the latest writes, as a failover to a replica that had not heard of them does.
   *
   * @returns What was lost, in the order in which it was written.
   */
  async lose(count: number): Promise<readonly Write[]> {
    const kept = this.writes.slice(0, Math.max(0, this.writes.length - count));
    const lost = this.writes.slice(kept.length);
    this.#store = memoryStore();
    for (const { method, args } of kept) await invoke(this.#store, method, args);
    this.writes = kept;
    return lost;
  }
}

function invoke(store: KeyStore, method: Method, args: readonly unknown[]): unknown {
  return (store[method] as (...given: readonly unknown[]) => unknown)(...args);
}

/** A store may keep something of its own with a plan or a record: that of the store before would mean nothing to the next one. */
function unshared(method: Method, args: readonly unknown[]): readonly unknown[] {
  if (method === "charge") {
    const [plan, ...rest] = args as [ChargePlan, ChargeMoment];
    const { memo: _, confirms, ...own } = plan;
    return [{ ...own, confirms: confirms.map(withoutHandle) }, ...rest];
  }
  if (method !== "commit") return args;
  const [workspaceId, change] = args as [string, Change];
  return [workspaceId, { ...change, expects: change.expects.map(withoutHandle) }];
}

function withoutHandle<Item extends { readonly handle?: unknown }>(item: Item): Item {
  const { handle: _, ...own } = item;
  return own as Item;
}

/** What read and page answer, without what only helps the store itself. */
function withoutHandles(result: unknown): unknown {
  const found = (result as { readonly found?: readonly (LoadedRecord | null)[] } | undefined)
    ?.found;
  if (found === undefined) return result;
  return {
    ...(result as object),
    found: found.map((loaded) =>
      loaded === null
        ? null
        : withoutHandle({
            ...loaded,
            linked: loaded.linked === null ? null : withoutHandle(loaded.linked),
          }),
    ),
  };
}

function hasWritten({ method, result }: Write): boolean {
  const kind = (result as { readonly kind?: string } | undefined)?.kind;
  if (method === "commit") return kind === "committed";
  if (method === "charge") return kind !== "stale" && kind !== "conflict";
  return true;
}
